local log, id, value, ttl, most_logs, most, most_bytes = unpack(ARGV)
local entries, ids, about = of_log(log)
local there = redis.call('HGET', ids, id)
if there then
  return {'done', there}
end
if redis.call('SISMEMBER', logs, log) == 0 then
  if redis.call('SCARD', logs) >= tonumber(most_logs) then
    return {'full'}
  end
  redis.call('SADD', logs, log)
end
local last = redis.call('HINCRBY', about, 'last', 1)
local number = digits(last)
redis.call('XADD', entries, number .. '-0', 'id', id, 'value', value)
redis.call('HSET', ids, id, number)
local bytes = redis.call('HINCRBY', about, 'bytes', #id + #value)
while redis.call('XLEN', entries) > 1
  and (redis.call('XLEN', entries) > tonumber(most) or bytes > tonumber(most_bytes)) do
  local oldest = redis.call('XRANGE', entries, '-', '+', 'COUNT', 1)[1]
  local fields = oldest[2]
  redis.call('XDEL', entries, oldest[1])
  redis.call('HDEL', ids, fields[2])
  bytes = redis.call('HINCRBY', about, 'bytes', -(#fields[2] + #fields[4]))
  redis.call('HSET', about, 'cut', string.match(oldest[1], '^(%d+)'))
end
renew(ttl)
return {'done', number}
