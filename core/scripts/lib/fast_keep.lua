-- needs argv n outcomes tickets time; includes keep_text
-- Keeps what a fast reserve answers, for a recall.
if n > 0 or outcomes ~= '' then
  local kept = argv[1] .. ' ' .. time[1] .. '.' .. time[2] .. ' ' .. outcomes .. '\n'
    .. (n == 1 and tickets[1] or table.concat(tickets, '\n'))
  -- include keep_text
end
