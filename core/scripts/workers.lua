-- workers: shows the registered consumers, a page at a time. Changes nothing.
-- keys consumers described meta
-- includes set_page decimal now refuse_newer
-- args alone: cursor ('': the first page), how many
-- Returns { now ms, cursor of the next page ('': none), then for each: session, when it registered
--   last in ms, a text: the same time, after how many ms it is offline, its description }.

-- include refuse_newer
local found, cursor = set_page(consumers, ARGV[1], tonumber(ARGV[2]))
local answer, sessions = { decimal(now_ms()), cursor }, {}
for i = 1, #found, 2 do
  sessions[#sessions + 1] = found[i]
end
local texts = #sessions > 0 and redis.call('HMGET', described, unpack(sessions)) or {}
for i, session in ipairs(sessions) do
  for _, word in ipairs({ session, decimal(tonumber(found[2 * i]) or 0), texts[i] or '' }) do
    answer[#answer + 1] = word
  end
end
return answer
