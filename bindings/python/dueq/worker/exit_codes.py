"""The exit codes of a worker."""

OK = 0
"""The worker was told to stop, or reached --max-jobs, --max-time or --memory."""
FAILED = 1
"""The worker cannot go on: the app's module raised an exception, or the server refuses for good."""
USAGE = 2
"""The command line or module:app is wrong. Starting the worker again does not help."""
STUCK = 70
"""A job ran past its kill_after. The other jobs were finished or released."""
ABORTED = 128
"""A second signal ended the worker at once. Its number is added."""
