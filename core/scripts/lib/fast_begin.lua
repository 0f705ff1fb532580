-- defines argv byte call format most must_rewake now us
-- What each fast reserve begins with.
local call, argv, byte, format = redis.call, ARGV, string.byte, string.format
local time = call('TIME')
local us = time[2] % 1000
local now = time[1] * 1000 + (time[2] - us) / 1000
local most, lease = tonumber(argv[4]), tonumber(argv[5])
-- The flags that this script needs are the first two: 'o' (111), and 'r' (114).
local kind, rewake = byte(argv[6], 1, 2)
local ordered, must_rewake = kind == 111, rewake == 114
