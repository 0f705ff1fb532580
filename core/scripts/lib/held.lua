-- defines held; needs meta; includes refuse_wire
-- Does what refuse_newer does. held: messages wait until fewer are leased. Then a script that takes
-- a ticket out of `leased` wakes a consumer.
local noted = redis.pcall('HMGET', meta, 'wire', 'held')
local wire, held = noted[1], noted[2] == '1'
-- include refuse_wire
