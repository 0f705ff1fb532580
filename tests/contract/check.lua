-- What must be true of a queue's keys at the end of each situation: every living message is in exactly
-- one state, and every ticket outside the list has its message.
-- KEYS[1] what the queue's keys begin with; ARGV[1] '1' where entries were damaged on purpose: then
-- tickets without a message, and messages that no ticket fits, may be.
-- Returns what is not true, a line each.
local msg, damaged = KEYS[1] .. 'msg', ARGV[1] == '1'
local complaints, places, living = {}, {}, 0

local function complain(...)
  complaints[#complaints + 1] = string.format(...)
end

-- The id, when the ticket's message lives: a ticket of an earlier push has another stamp. A ticket without
-- a count is an id.
local function living_id(place, ticket)
  local stamp, id = string.match(ticket, '^%d+%.?(%w*):(.+)$')
  if not id then
    stamp, id = '', ticket
  end
  local envelope = redis.call('HGET', msg, id)
  if not envelope then
    return nil
  end
  local own = (string.byte(envelope, 2) or 0) % 2 == 1 and string.sub(envelope, 5, 14) or ''
  return (own == stamp or place == 'dead' or damaged) and id or nil
end

local function note(place, tickets)
  for _, ticket in ipairs(tickets) do
    local id = living_id(place, ticket)
    if id then
      if places[id] then
        complain('%s is %s and %s', id, places[id], place)
      else
        living = living + 1
      end
      places[id] = place
    elseif place ~= 'ready' and not damaged then
      complain('the ticket %s is %s and has no message', ticket, place)
    end
  end
end

note('ready', redis.call('LRANGE', KEYS[1] .. 'ready', 0, -1))
for _, place in ipairs({ 'delayed', 'leased', 'dead' }) do
  note(place, redis.call('ZRANGE', KEYS[1] .. place, 0, -1))
end
local held = redis.call('HLEN', msg)
if held ~= living and not damaged then
  complain('%d messages are stored and %d are in a state', held, living)
end
if redis.call('EXISTS', KEYS[1] .. 'past') == 1 then
  for _, id in ipairs(redis.call('HKEYS', KEYS[1] .. 'past')) do
    if redis.call('HEXISTS', msg, id) == 0 and not damaged then
      complain('%s has a past and no message', id)
    end
  end
end
return complaints
