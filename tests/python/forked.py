"""A child process of a test."""

import os
import sys
import traceback
import warnings
from collections.abc import Callable


def in_child(work: Callable[[], object]) -> None:
    """Runs it in a forked child, and waits. What it raises there fails the test."""
    with warnings.catch_warnings():
        # Other threads do run; what the child needs of them is what such a test is about.
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
