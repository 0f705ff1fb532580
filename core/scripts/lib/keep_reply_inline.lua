-- needs answer; includes keep_text
-- Keeps the call's `answer`.
local kept = ARGV[1] .. ' ' .. answer
-- include keep_text
