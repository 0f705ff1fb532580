-- clock: returns the server's time. Changes nothing.
-- keys meta
-- includes decimal now refuse_newer
-- args alone: none
-- Returns now ms.

-- include refuse_newer
return decimal(now_ms())
