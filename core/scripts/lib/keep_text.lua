-- needs kept reply
-- Keeps the text `kept`, the call's number and its answer, under the session's own key: if the
-- client loses the reply, it recalls it, and does not run the call twice. The session's first call
-- of a minute sets the key's end, which is later than any recall.
if ARGV[3] == '1' or not redis.pcall('SET', reply, kept, 'XX', 'KEEPTTL') then
  redis.pcall('SET', reply, kept, 'PX', ARGV[2])
end
