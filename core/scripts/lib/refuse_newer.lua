-- needs meta; includes refuse_wire
-- Refuses a queue that a newer dueq wrote, before anything is changed. Scripts whose every command
-- counts do it otherwise:
-- with what else they read of meta, or by what their first command fails with
-- (lib/return_problem.lua).
local wire = redis.pcall('HGET', meta, 'wire')
-- include refuse_wire
