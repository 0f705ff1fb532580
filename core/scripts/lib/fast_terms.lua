-- defines deliver ends envelopes long many offset result stop
-- needs call format ids lease msg n now us
-- Reads the messages of a fast reserve, and begins its answer and the words of its leases. ends:
-- the end of the leases as a text.
local envelopes = n == 1 and { call('HGET', msg, ids[1]) }
  or n > 0 and call('HMGET', msg, unpack(ids))
local result = { now, -1 - us, 0, 0, '', '', '', nil, nil }
-- A small sorted set is one packed list, which the server reads from its start at each change. A
-- long member, which comes first, turns the set into a skip list. That stays until it is empty.
local long, many = '-----------------------------------------------------------------', n > 9
local deliver, offset = many and { '0', long } or n > 1 and {}, many and 2 or 0
local stop = now + lease
local ends = format('%d', stop)
