-- defines queue_name; needs meta
-- The name of the queue. It stands in the names of all its keys.
local function queue_name()
  return string.match(meta, '^dueq:{(.*)}:meta$')
end
