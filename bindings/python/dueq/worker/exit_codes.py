"""What the exit code of a worker says."""

OK = 0
"""It was told to stop, or has done what --max-jobs, --max-time or --memory allow."""
FAILED = 1
"""It cannot go on: the app's module raised, or the server refuses it for good."""
USAGE = 2
"""The command line or module:app is wrong; to start it again does not help."""
STUCK = 70
"""A job ran past its hard limit; the others were finished or released."""
ABORTED = 128
"""Plus the number of the second signal."""
