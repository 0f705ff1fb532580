-- defines check_ends check_kept check_started; needs started ends kept msg
-- includes check_findings check_verdict ticket decimal
-- What check looks at of kept ends (lib/note_end.lua). A record that no time ends, or that cannot
-- be read, goes; so does a time without a record.

local outcomes = { acked = true, dead = true, cancelled = true, expired = true, purged = true }

-- Whether this is the record of the end of a message.
local function is_record(id, record)
  local outcome, stop, began, ticket =
    string.match(record, '^(%l+) (%d+) (%d+)\n([^\n]+)\n[^\n]*\n')
  local _, of = ticket_read(ticket or '')
  return of == id and outcomes[outcome] and #stop < 14 and #began < 14
end

local function check_ends()
  local found, less = scan_page('HSCAN', ends), 0
  for i = 1, #found, 2 do
    local id, record = found[i], found[i + 1]
    if id ~= '' and (not is_record(id, record) or not read_list('ZMSCORE', kept, id)[1]) then
      report_removal('end', 'HDEL', ends, id)
      less = less + #record
    end
    answer[2] = answer[2] + #record
  end
  local noted = read_list('HMGET', ends, '')[1]
  local is_wrong = noted and not string.find(noted, '^%d' .. string.rep('%d?', 14) .. '$')
  if is_wrong then
    report('end', 'bytes ' .. noted)
  end
  if repairs and (is_wrong or less > 0) then
    redis.call('HSET', ends, '', decimal(is_wrong and 0 or (tonumber(noted or '') or 0) - less))
  end
end

local function check_kept()
  local found = scan_page('ZSCAN', kept)
  for i = 1, #found, 2 do
    if not read_list('HMGET', ends, found[i])[1] then
      report_removal('end', 'ZREM', kept, found[i])
    end
  end
end

local function check_started()
  local found = scan_page('HSCAN', started)
  for i = 1, #found, 2 do
    local stored = read_list('HMGET', msg, found[i])[1]
    if not stored or string.byte(stored) ~= 0xD3 then
      report_removal('end', 'HDEL', started, found[i])
    end
  end
end
