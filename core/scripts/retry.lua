-- retry: gives a leased message back, or ends it when its attempts are used up.
-- keys msg ready high low delayed leased dead outbox wake meta attempts reply
-- args ticket, delay in ms (-1: by its backoff), chance (0 to 65535), error text
-- Returns a digit: 0 it will be delivered again, 5 that was its end, 4 the lease was lost; and '+' behind it where a
-- relay is to take it to its dead-letter queue.

-- include permit
local now = now_ms()
local outcome, id, how, at = retry(ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7], now)
if id then
  gone.tickets = { ARGV[4] }
  if how == 'gone' then
    gone.ids, gone.records = { id }, { id }
  end
  remove_gone(leased)
  if at then
    note_event(at, now)
  end
end
return done(outcome .. (how == 'out' and '+' or ''))
