local done_key = base .. 'done:' .. ARGV[1]
if redis.call('EXISTS', done_key) == 0 then
  for _, log in ipairs(redis.call('SMEMBERS', logs)) do
    redis.call('UNLINK', of_log(log))
  end
  redis.call('UNLINK', values, names, logs, base .. 'task')
  redis.call('SET', done_key, '0', 'PX', 60000)
end
return 'done'
