-- kick_all: kicks dead messages that fit a filter. Looks at a bounded number of messages.
-- keys msg ready high low dead wake meta attempts begun reply
-- includes set_page ticket attempts kick_messages keep_reply refuse_layout
-- args cursor ('': from the first that died), how many to look at, text that the error contains
--   ('': any), died from, died before (ms since 1970; 0: open)
-- Returns "KICKED CURSOR": how many are ready, and the next cursor ('': that was the last).

-- include refuse_layout
local text, from, before = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
local found, cursor = set_page(dead, ARGV[4], tonumber(ARGV[5]))
local ids = {}
for i = 1, #found, 2 do
  local time, _, id = tonumber(found[i + 1]), ticket_read(found[i])
  local fits = id and time >= from and (before == 0 or time < before)
  if fits and text ~= '' then
    local record = redis.call('HGET', attempts, id)
    fits = record and string.find(attempts_read(record).error, text, 1, true)
  end
  ids[#ids + 1] = fits and id or nil
end
local _, kicked = kick_messages(ids)
return keep_reply(string.format('%d ', kicked) .. cursor)
