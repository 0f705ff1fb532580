-- defines note_begun; needs attempts begun delayed leased
-- includes begun_member clear each_page group_in ticket attempts
-- Orders of groups have changed. Notes the messages that were begun in groups that are in the order
-- strict now: those that are leased, and those that were delivered and are delayed, for a retry for
-- example. Removes those of groups that are not in this order. This takes a time in proportion to
-- the leased messages and to those that came back.
-- is_strict(name): whether the group, as in tickets, is in the order strict; false: no group is.
local function note_begun(is_strict)
  if not is_strict then
    clear_set(begun)
    return
  end
  local words, gone, cursor = { nil }, { nil }, '0'
  local function flush(most)
    if #words > most then
      redis.call('ZADD', begun, unpack(words))
      words = { nil }
    end
  end
  local function note(ticket)
    local name = group_in(ticket)
    if name and is_strict(name) then
      words[#words + 1], words[#words + 2] = '0', begun_member(ticket)
    end
    flush(2000)
  end
  each_page(begun, function(page)
    for i = 1, #page, 2 do
      gone[#gone + 1] = not is_strict(string.match(page[i], '^[^\t]*')) and page[i] or nil
    end
  end)
  each_page(leased, function(page)
    for i = 1, #page, 2 do
      note(page[i])
    end
  end)
  repeat
    local page, tickets = redis.call('HSCAN', attempts, cursor, 'COUNT', 1000), { nil }
    cursor = page[1]
    for i = 1, #page[2], 2 do
      local had = attempts_read(page[2][i + 1])
      tickets[#tickets + 1] = had.suffix and ticket_write(had.deliveries, page[2][i], had.suffix)
    end
    for at = 1, #tickets, 1000 do
      local part = { unpack(tickets, at, math.min(at + 999, #tickets)) }
      local times = redis.call('ZMSCORE', delayed, unpack(part))
      for i = 1, #part do
        if times[i] then
          note(part[i])
        end
      end
    end
  until cursor == '0'
  flush(0)
  for at = 1, #gone, 1000 do
    redis.call('ZREM', begun, unpack(gone, at, math.min(at + 999, #gone)))
  end
end
