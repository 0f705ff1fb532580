-- Reads once what a reserve_rare may write, before its first write: see lib/look.lua.
local looked_around = false
local function look_around()
  if not looked_around then
    look({ HLEN = { msg, attempts }, LLEN = { high, ready, low, quarantine }, ZCARD = { delayed, leased, dead, outbox } })
    looked_around = true
  end
end
