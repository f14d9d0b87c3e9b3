-- The oldest delivery whose lease is over, with how often it was delivered; those that were too often go to the dead.
local inbox, dead = KEYS[1], KEYS[2]
local group, consumer, lease, most, dead_most, ttl = unpack(ARGV)
-- Refused where the group is there already; it begins with the first message that is there.
redis.pcall('XGROUP', 'CREATE', inbox, group, '0', 'MKSTREAM')
redis.call('PEXPIRE', inbox, ttl)
while true do
  local claimed = redis.call('XAUTOCLAIM', inbox, group, consumer, lease, '0-0', 'COUNT', 1)
  local entry = claimed[2][1]
  if not entry then
    return {}
  end
  local place, fields = entry[1], entry[2]
  local told = redis.call('XPENDING', inbox, group, place, place, 1)[1]
  if told[4] <= tonumber(most) then
    return {place, fields[2], fields[4], tostring(told[4])}
  end
  redis.call('XADD', dead, 'MAXLEN', dead_most, '*', 'id', fields[2], 'message', fields[4])
  redis.call('PEXPIRE', dead, ttl)
  redis.call('XACK', inbox, group, place)
  redis.call('XDEL', inbox, place)
end
