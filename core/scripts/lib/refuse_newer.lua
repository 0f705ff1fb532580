-- needs meta; includes refuse_wire
-- Refuses a queue that a newer dueq wrote, before anything changes. A script in which each command
-- counts reads the wire version with other fields of `meta`, or finds out when its first command
-- fails (lib/return_problem.lua).
local wire = redis.pcall('HGET', meta, 'wire')
-- include refuse_wire
