-- needs before fields meta name number
-- Raises a counter of `meta` by `number`. before: the counter's text, which a call has read if it
-- writes other fields of `meta`, too. Then the counter is among these `fields`, and costs no
-- command of its own.
before = before and tonumber(before)
if before and before < 2 ^ 53 then
  fields[#fields + 1], fields[#fields + 2] = name, string.format('%d', before + number)
else
  redis.pcall('HINCRBY', meta, name, number == 1 and '1' or string.format('%d', number))
end
