-- What must be true of queues' keys at the end of each situation: every living message is in exactly
-- one state, in the line of its priority if it is ready, and every ticket outside the lines has its message;
-- and `next` is not later than what comes next.
-- KEYS  what the queues' keys begin with; ARGV[1] '1' where entries were damaged on purpose: then only that no
--       message is in two states.
-- Returns what is not true, a line each.
local damaged = ARGV[1] == '1'
local complaints = {}

local function complain(...)
  complaints[#complaints + 1] = string.format(...)
end

-- The tag of a message's tickets, as its envelope says. A successor in the outbox has none.
local function tag_of(envelope)
  if string.byte(envelope) == 0xD2 then
    return ''
  end
  local flags = string.byte(envelope, 2) or 0
  local stamp = flags % 2 == 1 and string.sub(envelope, 5, 14) or ''
  return stamp .. (flags >= 64 and 'l' or flags >= 32 and 'h' or '')
end

-- The id, when the ticket's message lives: a ticket of an earlier push has another stamp. A ticket without
-- a count is an id.
local function living_id(queue, place, ticket)
  local tag, id = string.match(ticket, '^%d+%.?(%w*):(.+)$')
  if not id then
    tag, id = '', ticket
  end
  local envelope = redis.call('HGET', queue .. 'msg', id)
  if envelope and (tag_of(envelope) == tag or place == 'dead' or damaged) then
    return id, tag
  end
end

local function check_states(queue)
  local places, living = {}, 0
  local function note(place, id)
    if places[id] then
      complain('%s is %s and %s', id, places[id], place)
    else
      living = living + 1
    end
    places[id] = place
  end
  local function note_tickets(place, tickets, line)
    for _, ticket in ipairs(tickets) do
      local id, tag = living_id(queue, place, ticket)
      if id then
        note(place, id)
        local own = #tag % 10 == 0 and 'ready' or string.sub(tag, -1) == 'h' and 'high' or 'low'
        if line and line ~= own and not damaged then
          complain('the ticket %s is in %s', ticket, line)
        end
      elseif not line and not damaged then
        complain('the ticket %s is %s and has no message', ticket, place)
      end
    end
  end
  for _, line in ipairs({ 'high', 'ready', 'low' }) do
    note_tickets('ready', redis.call('LRANGE', queue .. line, 0, -1), line)
  end
  for _, place in ipairs({ 'delayed', 'leased', 'dead', 'outbox' }) do
    note_tickets(place, redis.call('ZRANGE', queue .. place, 0, -1))
  end
  local held = redis.call('HLEN', queue .. 'msg')
  if held ~= living and not damaged then
    complain('%d messages are stored and %d are in a state', held, living)
  end
end

local function check_next(queue)
  local first = tonumber(redis.call('HGET', queue .. 'meta', 'next_event') or '')
  local out = redis.call('ZRANGE', queue .. 'outbox', 0, 0, 'WITHSCORES')[2]
  local noted = tonumber(redis.call('HGET', queue .. 'meta', 'outbox_event') or '')
  if out and (not noted or noted > tonumber(out)) then
    complain('the first of the outbox is at %s and outbox_event is %s', out, tostring(noted))
  end
  for _, name in ipairs({ 'delayed', 'leased', 'outbox' }) do
    local head = redis.call('ZRANGE', queue .. name, 0, 0, 'WITHSCORES')[2]
    if head and (not first or first > tonumber(head)) then
      complain('the first of %s is at %s and next is %s', name, head, tostring(first))
    end
  end
  if redis.call('LLEN', queue .. 'high') + redis.call('LLEN', queue .. 'low') > 0
    and redis.call('HGET', queue .. 'meta', 'has_priorities') ~= '1' then
    complain('high or low holds something and lists does not say so')
  end
end

for _, queue in ipairs(KEYS) do
  check_states(queue)
  if not damaged then
    check_next(queue)
    for _, id in ipairs(redis.call('HKEYS', queue .. 'attempts')) do
      if redis.call('HEXISTS', queue .. 'msg', id) == 0 then
        complain('%s has a past and no message', id)
      end
    end
  end
end
return complaints
