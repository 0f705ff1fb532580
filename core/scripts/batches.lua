-- batches: lists the batches of the queue that have not ended, a page at a time. Changes nothing.
-- keys batches meta
-- includes now batch_record batch_row refuse_newer
-- args alone: cursor ('': the first page), about how many
-- Returns { now ms, cursor of the next page ('': none), and of each the words of lib/batch_row.lua
--   }. In no order; a batch may come twice.

-- include refuse_newer
local now = string.format('%d', now_ms())
local page = redis.call('HSCAN', batches, ARGV[1] == '' and '0' or ARGV[1], 'COUNT', ARGV[2])
local answer = { now, page[1] ~= '0' and page[1] or '' }
local found = {}
for i = 1, #page[2], 2 do
  local id = page[2][i]
  local b = not string.find(id, '\t', 1, true) and batch_read(page[2][i + 1])
  if b then
    found[#found + 1] = { id, b }
  end
end
table.sort(found, function(one, other) return one[1] < other[1] end)
for _, each in ipairs(found) do
  batch_row(answer, each[1], each[2])
end
return answer
