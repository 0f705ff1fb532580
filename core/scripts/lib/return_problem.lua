-- needs problem; includes refuse_layout
-- What a script answers whose first command failed with `problem`: in the key's place stands the
-- text of a newer dueq, or
-- that of a queue of partitions, or a foreign value.
if problem then
  -- include refuse_layout
  return problem
end
