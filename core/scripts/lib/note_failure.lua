-- defines note_failure keep_failures; needs failures; includes decimal
-- What failed in this call. It is kept at its end, in one step: the last 1000 of the queue, the
-- latest first.
local failed = {}

-- kind: failed, crashed, buried or died. by: who says so, "HOST PID" ('': nobody). text: the error,
-- of which 500 bytes are
-- kept at most, whole characters.
local function note_failure(now, kind, ticket, by, text)
  if #text > 500 then
    local cut = string.sub(text, 1, 500)
    text = string.find(text, '^[\128-\191]', 501) and string.gsub(cut, '[\192-\255][\128-\191]*$', '') or cut
  end
  failed[#failed + 1] = table.concat({ decimal(now) .. ' ' .. kind, ticket, by, text }, '\n')
end

-- A foreign value under the key is not worth an error after what was done.
local function keep_failures()
  if #failed > 0 then
    redis.pcall('LPUSH', failures, unpack(failed))
    redis.pcall('LTRIM', failures, 0, 999)
  end
end
