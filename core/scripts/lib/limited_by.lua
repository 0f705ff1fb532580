-- defines limited_by; needs limits
-- What `limited` of `meta` says of the fields of `limits`: '2': there are limits of groups; '1':
-- only of the queue; nil: there are none. A backlog is no such limit.
local function limited_by()
  local limited = nil
  local names = redis.pcall('HKEYS', limits)
  for i = 1, #names do
    if string.find(names[i], '^%l+%.[corw]') then
      return '2'
    elseif names[i] == 'concurrency' or names[i] == 'rate' then
      limited = '1'
    end
  end
  return limited
end
