-- defines answer tickets; includes return_problem verify_leases
-- The first half of ack_full and ack_wake. answer: a digit for each ticket; tickets: those that are
-- leased.
local answer, tickets = verify_leases(4, #ARGV)
local problem = not answer and tickets
-- include return_problem
