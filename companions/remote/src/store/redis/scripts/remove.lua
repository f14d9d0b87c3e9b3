local done_key = base .. 'done:' .. ARGV[1]
if redis.call('EXISTS', done_key) == 0 then
  local removed = 0
  for at = 3, #ARGV do
    removed = removed + redis.call('HDEL', values, ARGV[at])
    redis.call('ZREM', names, ARGV[at])
  end
  if removed > 0 then
    redis.call('SET', done_key, '0', 'PX', 60000)
    renew(ARGV[2])
  end
end
return 'done'
