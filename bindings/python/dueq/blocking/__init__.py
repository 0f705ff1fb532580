"""The classes of dueq. Those of dueq.aio that only wait otherwise are the source of theirs."""
