-- defines repairs stage cursor most now answer report report_removal scan_page make_dead judge
-- needs attempts dead msg quarantine
-- includes now deferred_removals check_verdict ticket attempts put_tickets member_end
-- includes damaged_member
-- The arguments of check, its answer, and how it reports and repairs a finding.
local repairs, stage, cursor, most = ARGV[1] == '1', ARGV[2], ARGV[3], tonumber(ARGV[4])
local now, answer, kinds = now_ms(), { '', 0, 0, {}, {} }, {}

local function report(kind, example, number)
  local at = kinds[kind] or #answer + 1
  kinds[kind] = at
  answer[at], answer[at + 1] = kind, (answer[at + 1] or 0) + (number or 1)
  answer[at + 2] = answer[at + 2] or {}
  if #answer[at + 2] < 5 then
    table.insert(answer[at + 2], string.sub(example, 1, 300))
  end
end

-- The finding is an entry, which a repair removes from its key.
local function report_removal(kind, command, key, member)
  report(kind, member)
  if repairs then
    defer_removal(command, key, member)
  end
end

-- Returns names and values by turns, in the order of the names: each server scans in another order.
local function scan_page(command, key)
  local page = read_list(command, key, cursor == '' and '0' or cursor, 'COUNT', most)
  local found, values, names, sorted = page[2] or {}, {}, {}, {}
  for i = 1, #found, 2 do
    values[found[i]], names[#names + 1] = found[i + 1], found[i]
  end
  table.sort(names)
  for i, name in ipairs(names) do
    sorted[2 * i - 1], sorted[2 * i] = name, values[name]
  end
  answer[1], answer[3] = (page[1] or '0') ~= '0' and page[1] or '', #names
  return sorted
end

-- Moves a message with an unreadable envelope to `dead`. Its batch counts it, if one can be read.
local function make_dead(ticket)
  local deliveries, id, suffix = ticket_read(ticket)
  local had = {
    deliveries = deliveries, forgiven = 0, crashes = 0, suffix = suffix, error = 'damaged envelope',
  }
  -- include damaged_member
  local member = damaged_member(field(msg, id) or '')
  if member then
    redis.call('HSET', msg, id, member_end(member, 'dead'))
  end
  redis.call('HSET', attempts, id, attempts_write(had))
  put_tickets(dead, now, { ticket })
  forget_prefetched()
end

-- Judges a ticket of a set (nil: of a lane), and reports what is wrong. Returns whether a repair
-- removes the ticket from its place, and what is wrong.
local seen = {}
local function judge(set, ticket)
  local verdict, bytes = verdict_of(ticket, set, seen)
  answer[2] = answer[2] + bytes
  if verdict then
    report(verdict == 'stale' and set and 'orphaned' or verdict, ticket)
  end
  if not verdict or not repairs then
    return false, verdict
  elseif verdict == 'garbage' then
    redis.call('RPUSH', quarantine, ticket)
    redis.call('LTRIM', quarantine, -100, -1)
  elseif verdict == 'corrupt' then
    make_dead(ticket)
  elseif verdict == 'attempts' then
    local deliveries, id, suffix = ticket_read(ticket)
    local had = attempts_read(field(attempts, id))
    had.forgiven = had.forgiven + deliveries - had.deliveries
    had.deliveries, had.suffix = deliveries, suffix
    redis.call('HSET', attempts, id, attempts_write(had))
    forget_prefetched()
    return false, verdict
  end
  return true, verdict
end
