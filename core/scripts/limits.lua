-- limits: the limits of the queue.
-- keys msg limits meta
-- includes refuse_layout limits
-- Returns { concurrency, rate, burst }, each as it was set, or '': there is no limit, or the burst
--   is as the rate says; or an error: CORRUPT.

-- include refuse_layout
local limit, problem = limits_read()
if not limit then
  return problem
end
local set = redis.call('HMGET', limits, 'concurrency', 'rate', 'burst')
return { set[1] or '', set[2] or '', set[3] or '' }
