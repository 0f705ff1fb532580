-- kick_all: gives the dead messages that fit a filter back, as kick does; a bounded number at a time.
-- KEYS[1] msg    HASH  id -> envelope
-- KEYS[2] ready  LIST  tickets in delivery order
-- KEYS[3] high   LIST  those of high priority
-- KEYS[4] low    LIST  those of low priority
-- KEYS[5] dead   ZSET  ticket -> when it died, ms
-- KEYS[6] wake   ZSET  the wake marker
-- KEYS[7] info   HASH  next, claims, lists, counters
-- KEYS[8] past   HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[9] reply  STRING  what the session's last call answered
-- ARGV    number, keep, minute, cursor ('': from the first that died), how many to look at, text that
--         their error contains ('': any), died from, died before (ms since 1970; 0: open)
-- Returns "KICKED CURSOR": how many were given back, and the next cursor ('': there is no more).
-- include ticket
-- include name
-- include envelope
-- include past
-- include place
-- include line
-- include wake
-- include done
-- include int
-- include page
-- include revive

local keys = {
  msg = KEYS[1], ready = KEYS[2], high = KEYS[3], low = KEYS[4], dead = KEYS[5], wake = KEYS[6], info = KEYS[7],
  past = KEYS[8],
}
line_check(keys)
redis.call('HLEN', keys.past)
local text, from, before = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
local found, cursor = page(keys.dead, ARGV[4], tonumber(ARGV[5]))
local back = {}
for i = 1, #found, 2 do
  local time, _, id = tonumber(found[i + 1]), ticket_read(found[i])
  local fits = id and time >= from and (before == 0 or time < before)
  if fits and text ~= '' then
    local past = redis.call('HGET', keys.past, id)
    fits = past and string.find(past_read(past).text, text, 1, true)
  end
  local envelope = fits and redis.call('HGET', keys.msg, id)
  if envelope then
    revive(keys, id, envelope, back)
  end
end
if #back > 0 and line_up(keys, back) then
  wake_one(keys.wake)
end
return done(KEYS[9], string.format('%d ', #back) .. cursor)
