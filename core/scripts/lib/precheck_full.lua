-- defines precheck_full; needs attempts dead delayed high leased low msg outbox quarantine ready
-- includes precheck
-- Reads once what a reserve_full may write, before its first write: see lib/precheck.lua.
local prechecked = false
local function precheck_full()
  if not prechecked then
    precheck({ HLEN = { msg, attempts }, LLEN = { high, ready, low, quarantine }, ZCARD = { delayed, leased, dead, outbox } })
    prechecked = true
  end
end
