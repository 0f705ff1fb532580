"""`python -m dueq module:app`: the worker process."""

import sys

from dueq.worker import main

if __name__ == "__main__":
    sys.exit(main())
