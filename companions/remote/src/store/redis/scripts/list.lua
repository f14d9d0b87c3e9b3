local from, to, page = unpack(ARGV)
local answer, bytes = {}, 0
for _, name in ipairs(redis.call('ZRANGEBYLEX', names, from, to, 'LIMIT', 0, 256)) do
  local there = redis.call('HGET', values, name)
  if there then
    bytes = bytes + #there
    if bytes > tonumber(page) and #answer > 0 then
      break
    end
    answer[#answer + 1] = name
    answer[#answer + 1] = there
  end
end
return answer
