-- ack_group: as ack, of a message with a group. Where the queue has limits of groups, it changes
-- nothing and answers nil.
-- keys msg leased meta reply
-- includes ack_one
-- args ticket
-- passes on to ack_wake
-- Returns a digit: 0 finished, 4 the lease is lost; or nil.
if redis.call('HGET', meta, 'limited') == '2' then
  return nil
end
-- include ack_one
