-- clock: says the server's time; changes nothing.
-- keys meta
-- args alone: none
-- Returns now ms.

-- include known
return int(now_ms())
