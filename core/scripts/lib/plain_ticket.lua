-- defines ticket; needs id msg; includes return_problem
-- The ticket of the first delivery of the message `id`. If there is no such message, or it has a
-- high or low priority, the script ends here with nil.
local envelope = redis.pcall('HGET', msg, id)
-- An error has no length, and a text has one. Asking for the length is cheaper than for the type.
if envelope and #envelope == 0 then
  local problem = envelope ~= '' and envelope
  -- include return_problem
end
local version, flags = string.byte(envelope or '', 1, 2)
if version ~= 0xD1 or not flags or flags >= 32 then
  return nil
end
local ticket = flags % 2 == 1 and '0.' .. string.sub(envelope, 5, 14) .. ':' .. id or id
