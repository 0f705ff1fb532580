-- failures: shows what failed in the queue, a page at a time, the latest first. Changes nothing.
-- keys failures meta
-- includes ticket refuse_newer
-- args alone: id ('': all messages), cursor ('': the first page), how many
-- Returns { cursor of the next page ('': none), then for each failure: time in ms, kind, ticket,
--   who, error }, as lib/note_failure.lua keeps them. A cursor is the time of the last failure, and
--   how many of that time the pages had.

-- include refuse_newer
local wanted, most, answer = ARGV[1], tonumber(ARGV[3]), { '' }
local from, seen = string.match(ARGV[2], '^(%d+) (%d+)$')
local last, same = nil, 0
for _, entry in ipairs(redis.call('LRANGE', failures, 0, 999)) do
  -- An entry that does not look so is left out.
  local time, kind, ticket, by, text =
    string.match(entry, '^(%d+) (%l+)\n([^\n]+)\n([^\n]*)\n(.*)$')
  local id
  if time and #time < 16 and string.find(ticket, wanted, 1, true) then
    id = select(2, ticket_read(ticket))
  end
  if id and (wanted == '' or id == wanted) then
    if #answer > 5 * most then
      answer[1] = last .. ' ' .. same
      break
    end
    same, last = time == last and same + 1 or 1, time
    local before = from and (tonumber(time) - tonumber(from))
    if not before or before < 0 or before == 0 and same > tonumber(seen) then
      for _, word in ipairs({ time, kind, ticket, by, text }) do
        answer[#answer + 1] = word
      end
    end
  end
end
return answer
