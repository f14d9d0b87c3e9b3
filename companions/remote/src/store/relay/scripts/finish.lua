local inbox = KEYS[1]
local group, place = unpack(ARGV)
redis.call('XACK', inbox, group, place)
redis.call('XDEL', inbox, place)
return 'done'
