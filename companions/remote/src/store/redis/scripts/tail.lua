local log, after, most, page = unpack(ARGV)
local entries, _, about = of_log(log)
local told = redis.call('HMGET', about, 'last', 'cut')
local answer = {told[1] or '0', told[2] or '0'}
local left, bytes, from = tonumber(most), 0, '(' .. after .. '-0'
while left > 0 do
  local piece = redis.call('XRANGE', entries, from, '+', 'COUNT', math.min(left, 16))
  if #piece == 0 then
    break
  end
  for _, entry in ipairs(piece) do
    local fields = entry[2]
    bytes = bytes + #fields[2] + #fields[4]
    if bytes > tonumber(page) and #answer > 2 then
      return answer
    end
    answer[#answer + 1] = string.match(entry[1], '^(%d+)')
    answer[#answer + 1] = fields[2]
    answer[#answer + 1] = fields[4]
    from = '(' .. entry[1]
    left = left - 1
  end
end
return answer
