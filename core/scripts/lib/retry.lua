-- What giving the message of a ticket back as failed takes. It checks the types of the keys that retry
-- writes, and changes nothing. Returns a table: empty where the lease was lost; `needs` is the queue whose
-- keys its end takes.
local function retry_look(keys, ticket, now, other)
  line_check(keys)
  redis.call('ZCARD', keys.delayed)
  finish_check(keys, other)
  local id, tag, envelope, story = holder(keys, ticket, now)
  if not id then
    return {}
  end
  local e = envelope_read(envelope)
  local failed = failures(story)
  local spent = not e or (e.max_attempts > 0 and failed >= e.max_attempts)
  local needs = spent and finish_needs(keys.msg, e, other)
  return { id = id, tag = tag, story = story, e = e, failed = failed, spent = spent, needs = needs or nil }
end

-- Gives it back, after `delay` ms (-1: by its backoff, with the chance of 0 to 65535), or ends it when its
-- attempts are used up. Returns the outcome.
local function retry(keys, found, ticket, delay, chance, text, now, other)
  if not found.id or redis.call('ZREM', keys.leased, ticket) == 0 then
    return DUEQ_LEASE_LOST
  end
  local id, e, story = found.id, found.e, found.story
  count(keys.info, 'retried', 1)
  story.text = text
  local fresh = ticket_write(story.before, id, found.tag)
  if found.spent then
    finish(keys, e, id, fresh, story, now, other)
    return DUEQ_BURIED
  end
  redis.call('HSET', keys.past, id, past_write(story))
  if delay < 0 then
    delay = e.backoff and backoff_ms(e.backoff, found.failed, chance) or 0
  end
  if delay > 0 then
    redis.call('ZADD', keys.delayed, string.format('%d', now + delay), fresh)
    expect(keys.info, keys.wake, now + delay, now)
  elseif line_up(keys, { fresh }) then
    wake_one(keys.wake)
  end
  return DUEQ_OK
end
