local name, value, expect, write, ttl, most = unpack(ARGV)
local done_key = base .. 'done:' .. write
-- Made already: the answer was lost on its way.
local done = redis.call('GET', done_key)
if done then
  return {'done', done}
end
local there = redis.call('HGET', values, name)
local version = there and string.match(there, '^(%d+):') or '0'
if expect ~= 'any' and expect ~= version then
  return {'conflict', there}
end
if not there then
  if redis.call('HLEN', values) >= tonumber(most) then
    return {'full'}
  end
  redis.call('ZADD', names, 0, name)
end
version = digits(tonumber(version) + 1)
redis.call('HSET', values, name, version .. ':' .. value)
redis.call('SET', done_key, version, 'PX', 60000)
renew(ttl)
return {'done', version}
