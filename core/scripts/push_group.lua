-- push_group: stores messages that are due now, of which at least one has a group, and puts their
-- tickets at the ends of the lines of their groups. The core made their ids, so no message can have
-- them yet. If tickets wait in `ready`, it changes nothing and answers nil: those come first.
-- keys msg ready groups lines turns wake meta reply
-- includes return_problem envelope_suffix turns group_line join_lines wake count_fast
-- includes keep_reply_inline
-- args id, envelope of each
-- passes on to push_group_sort
-- Returns a digit for each: 0 stored; or nil.
local argv = ARGV
local arrivals = redis.pcall('LLEN', ready)
if arrivals ~= 0 then
  local problem = type(arrivals) == 'table' and arrivals
  -- include return_problem
  return nil
end
local tickets, names, n = { nil }, { nil }, (#argv - 3) / 2
for i = 1, n do
  local id, suffix = argv[2 * i + 2], envelope_suffix(argv[2 * i + 3])
  tickets[i] = suffix and '0.' .. suffix .. ':' .. id or id
  names[i] = suffix and string.sub(suffix, 2) or ''
end
lines_read(names)
-- If none of the lines is empty, no group gets a turn, and consumers know that messages wait.
local opens = false
for i = 1, n do
  opens = opens or line_is_empty(line_of(names[i]))
end
local state, fields = opens and redis.call('HMGET', meta, 'turns', 'pushed'), {}
turns_begin(state and state[1])
join_lines(tickets, names)
-- Tickets come first: a reserve drops a ticket without a message.
write_turns()
redis.call('HSET', msg, unpack(argv, 4))
if opens then
  turns_meta(fields)
  if not state[1] then
    -- From now on reserve_groups serves the queue, and the fast reserve passes calls on.
    fields[#fields + 1], fields[#fields + 2] = 'has_priorities', '1'
  end
  -- include wake
  wake_one(n > 1)
end
local name, number, before = 'pushed', n, fields[1] and (state[2] or '0')
-- include count_fast
if fields[1] then
  redis.call('HSET', meta, unpack(fields))
end
local answer = n == 1 and '0' or string.rep(DUEQ_OK, n)
-- include keep_reply_inline
return answer
