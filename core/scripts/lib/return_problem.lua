-- needs problem; includes refuse_layout
-- Ends a script whose first command failed with `problem`. In the key's place is the text of a
-- newer dueq or of a queue with partitions, which is refused as such, or a value of another type.
if problem then
  -- include refuse_layout
  return problem
end
