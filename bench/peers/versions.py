"""Prints the versions of the packages that are named, and of Python, on one line."""

import platform
import sys
from importlib.metadata import version

told = [f"{name} {version(name)}" for name in sys.argv[1:]]
print(", ".join([*told, f"Python {platform.python_version()}"]))
