-- What living messages leave behind that are replaced: removed when the new ones are stored.
local left = { delayed = {}, leased = {}, dead = {}, ids = {} }

-- Puts a draft in the place of the living message of its id. One that is READY or DELAYED stays where and when it is
-- where only its body is replaced (draft.kept), as does one that is READY, never came back, and becomes READY.
-- Returns false where the old one is on its way to another queue.
local function replace(draft, id, old)
  local text = redis.call('HGET', attempts, id)
  local ticket, had = current_ticket(id, old, text)
  if redis.call('ZSCORE', outbox, ticket) then
    return false
  end
  local place
  for name, set in pairs({ delayed = delayed, leased = leased, dead = dead }) do
    place = redis.call('ZSCORE', set, ticket) and name or place
  end
  local was = had.suffix or ''
  local incarnation = #was >= 10 and string.sub(was, 1, 10) or ''
  local stays = draft.existing == 2 and (not place or place == 'delayed') or not place and not text and draft.at_once
  if stays and envelope_read(old) and incarnation .. string.sub(draft.suffix, 11) == was then
    -- The same incarnation, or none as before: the ticket stays the message's.
    local flags = string.byte(draft.envelope, 2) - (incarnation == '' and 1 or 0)
    draft.envelope = string.sub(draft.envelope, 1, 1) .. string.char(flags) .. string.sub(draft.envelope, 3, 4)
      .. incarnation .. string.sub(draft.envelope, 15)
    draft.kept = true
    return true
  end
  if place then
    table.insert(left[place], ticket)
  end
  if text then
    table.insert(left.ids, id)
  end
  return true
end

local function remove_replaced()
  for name, set in pairs({ delayed = delayed, leased = leased, dead = dead }) do
    if #left[name] > 0 then
      redis.call('ZREM', set, unpack(left[name]))
    end
  end
  if #left.ids > 0 then
    redis.call('HDEL', attempts, unpack(left.ids))
  end
end
