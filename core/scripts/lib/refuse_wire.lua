-- needs wire; includes queue_name
-- Refuses a queue that a newer dueq wrote. wire: the version in `meta`; a text that is no version
-- counts as none.
if type(wire) == 'string'
  and string.find(wire, '^[1-9]%d?%d?%d?%d?%d?%d?%d?%d?$') and tonumber(wire) > 1 then
  -- include queue_name
  return redis.error_reply(string.format(
    "LAYOUT a newer dueq wrote the queue '%s' (wire %s; this one knows 1): "
    .. 'upgrade this client', queue_name(), wire))
end
