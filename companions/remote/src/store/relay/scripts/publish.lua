local inbox, seen = KEYS[1], KEYS[2]
local id, message, window, ttl, most = unpack(ARGV)
-- Published already: the answer was lost on its way, or the sender is not sure.
if redis.call('EXISTS', seen) == 1 then
  return 'done'
end
if redis.call('XLEN', inbox) >= tonumber(most) then
  return 'full'
end
redis.call('XADD', inbox, '*', 'id', id, 'message', message)
redis.call('PEXPIRE', inbox, ttl)
redis.call('SET', seen, '1', 'PX', window)
return 'done'
