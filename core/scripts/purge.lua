-- purge: takes messages of one state away, a bounded number at a time.
-- keys msg ready high low delayed leased dead outbox attempts handover meta reply
-- args state (1 ready, 2 delayed, 3 leased, 4 dead, 5 outbox), how many at most
-- Returns "messages taken away" or, when more may be there, "messages taken away +".

local most = tonumber(ARGV[5])
look({ HLEN = { attempts, handover }, LLEN = ARGV[4] == '1' and { high, ready, low } or {} })
local ids, met = purge(tonumber(ARGV[4]), most)
for _, hash in ipairs({ msg, attempts, handover }) do
  if #ids > 0 then
    redis.call('HDEL', hash, unpack(ids))
  end
end
return done(string.format('%d', #ids) .. (met == most and ' +' or ''))
