-- find: looks a message up by its id. Changes nothing.
-- keys msg delayed leased dead outbox attempts meta
-- includes message decimal now preview refuse_layout
-- args alone: id, at most how many bytes of its body (0: all)
-- Returns nil, or { now ms, state (1 ready, 2 delayed, 3 leased, 4 dead, 5 outbox), its time in ms,
--   ticket, envelope, attempts ('': none), size of the whole envelope }.

-- include refuse_layout
local m = find_message(ARGV[1], { delayed, leased, dead, outbox })
return m and {
  decimal(now_ms()), (m.place or 0) + 1, decimal(tonumber(m.time or '') or 0), m.ticket,
  preview(m.envelope, ARGV[2]), m.text or '', #m.envelope,
}
