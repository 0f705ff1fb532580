-- The keys of reserve.lua by name.
local function keys_by_name()
  return {
    msg = KEYS[1], ready = KEYS[2], high = KEYS[7], low = KEYS[8], delayed = KEYS[9], leased = KEYS[3],
    dead = KEYS[10], wake = KEYS[4], info = KEYS[5], past = KEYS[11], bad = KEYS[12],
  }
end
