-- clock: says the server's time; changes nothing.
-- keys meta
-- args alone: none
-- Returns now ms.

-- include refuse_newer
return decimal(now_ms())
