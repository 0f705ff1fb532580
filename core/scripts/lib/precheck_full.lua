-- defines precheck_full; needs attempts dead delayed high leased low msg outbox quarantine ready
-- includes precheck
-- Checks once, before the first write, the types of all keys that reserve_full may write.
local precheck_full
do
  -- include precheck
  local prechecked = false
  function precheck_full()
    if not prechecked then
      precheck({
        HLEN = { msg, attempts }, LLEN = { high, ready, low, quarantine },
        ZCARD = { delayed, leased, dead, outbox },
      })
      prechecked = true
    end
  end
end
