-- defines note_failure keep_failures; needs failures; includes decimal
-- What failed in this call. keep_failures() keeps it at the call's end, in one step: the queue's
-- last 1000, the latest first.
local note_failure, keep_failures
do
  local failed = {}

  -- kind: failed, crashed, buried or died. by: who says so, "HOST PID" ('': nobody). text: the
  -- error, of which at most 500 bytes are kept, in whole characters.
  function note_failure(now, kind, ticket, by, text)
    if #text > 500 then
      local cut = string.sub(text, 1, 500)
      text = string.find(text, '^[\128-\191]', 501)
        and string.gsub(cut, '[\192-\255][\128-\191]*$', '') or cut
    end
    failed[#failed + 1] = table.concat({ decimal(now) .. ' ' .. kind, ticket, by, text }, '\n')
  end

  -- The script has done its work by then, so a key of another type must not make it fail.
  function keep_failures()
    if #failed > 0 then
      redis.pcall('LPUSH', failures, unpack(failed))
      redis.pcall('LTRIM', failures, 0, 999)
    end
  end
end
