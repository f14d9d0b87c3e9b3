local lease = KEYS[1]
local owner, ttl = unpack(ARGV)
local there = redis.call('GET', lease)
if there and there ~= owner then
  return 'taken'
end
redis.call('SET', lease, owner, 'PX', ttl)
return 'held'
