-- Only who holds a delivery can keep it: another may have it since.
local inbox = KEYS[1]
local group, consumer, place = unpack(ARGV)
local told = redis.call('XPENDING', inbox, group, place, place, 1)[1]
if not told or told[2] ~= consumer then
  return 'lost'
end
redis.call('XCLAIM', inbox, group, consumer, 0, place, 'JUSTID')
return 'kept'
