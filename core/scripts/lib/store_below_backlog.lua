-- defines backlog_refused store_below_backlog; needs msg unique
-- includes backlog due_time envelope_suffix group_mark store_drafts
-- Stores drafts, but no more of a group than its backlog allows.

-- Which of the drafts in `words` (lib/draft_read.lua) are refused, from index `from` on. A draft
-- whose id is taken is not one of them: it replaces a message, or is a duplicate. leaving: the id
-- of a message that ends in the same step.
local function backlog_refused(words, from, now, leaving)
  local names, any, fresh, existing = {}, false, {}, nil
  for i = from, #words, 4 do
    local name = ''
    if string.byte(words[i + 1], 2) >= 128 then
      name, any = group_of(envelope_suffix(words[i + 1])), true
    end
    names[#names + 1] = name
  end
  return any and backlog_refuses(names, function(n, refused)
    local i = from + 4 * (n - 1)
    local id, envelope = words[i], words[i + 1]
    if not existing then
      local ids = {}
      for k = from, #words, 4 do
        ids[#ids + 1] = words[k]
      end
      existing = redis.call('HMGET', msg, unpack(ids))
    end
    local is_unique = id ~= leaving and string.byte(envelope, 2) % 2 == 1
      and tonumber(redis.call('ZSCORE', unique, id) or 0) > now
    local before = fresh[id]
    fresh[id] = n
    if before and not refused[before] or existing[n] and id ~= leaving or is_unique then
      return nil
    end
    return due_time(words[i + 2], now) <= now
  end) or nil
end

-- As store_drafts(). A draft that is refused has the digit of BACKLOG.
local function store_below_backlog(words, from, now, how)
  local refused = backlog_refused(words, from, now, how.leaving)
  if not refused then
    return store_drafts(words, from, now, how)
  end
  local kept, records, digits, problem = {}, how.records and {}, '', nil
  for i = from, #words, 4 do
    local n = (i - from) / 4 + 1
    if not refused[n] then
      for k = i, i + 3 do
        kept[#kept + 1] = words[k]
      end
      if records then
        records[#records + 1] = how.records[n]
      end
    end
  end
  how.records = records
  if #kept > 0 then
    digits, problem = store_drafts(kept, 1, now, how)
  end
  local outcome, at = {}, 0
  for n = 1, digits and (#words - from + 1) / 4 or 0 do
    at = refused[n] and at or at + 1
    outcome[n] = refused[n] and BACKLOG or string.sub(digits, at, at)
  end
  return digits and table.concat(outcome), problem
end
