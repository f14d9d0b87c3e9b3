-- Every key of a task begins with KEYS[1], and so lies in one slot.
local base = KEYS[1]
local values, names, logs = base .. 'values', base .. 'names', base .. 'logs'

local function of_log(log)
  return base .. 'log:' .. log, base .. 'ids:' .. log, base .. 'about:' .. log
end

local function renew(ttl)
  redis.call('SET', base .. 'task', '1', 'PX', ttl)
  for _, key in ipairs({values, names, logs}) do
    redis.call('PEXPIRE', key, ttl)
  end
  for _, log in ipairs(redis.call('SMEMBERS', logs)) do
    for _, key in ipairs({of_log(log)}) do
      redis.call('PEXPIRE', key, ttl)
    end
  end
end

-- '%.0f': the plain form turns to an exponent at 10^14.
local function digits(number)
  return string.format('%.0f', number)
end
