-- push_group_sort: as push_group, and sorts what waits for that into the lines of the groups.
-- keys msg ready groups lines turns wake meta reply
-- includes store_grouped help_sort keep_reply_inline
-- args as push_group
-- Returns a digit for each: 0 stored.
-- include store_grouped
help_sort(n)
-- include keep_reply_inline
return answer
