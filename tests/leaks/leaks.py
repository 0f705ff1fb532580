"""
Memory that stays: messages in Python and in PHP for long, on a private server, and the same in a
PHP with memory checks where there is one.

The last line is for machines. The exit status is 0 when nothing grew and no check found anything.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from private_server import Server

HERE = Path(__file__).resolve().parent
GROWTH_LIMIT_KIB = 400
DEBUG_CYCLES = 5_000


def grown_kib(*command: str | Path) -> int:
    """Runs one of the programs here, and returns by how much its memory grew."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} ended with {done.returncode}")
    return int(json.loads(done.stdout)["growth_kib"])


def php_debug(php: str | None, extension: str, url: str) -> str:
    """A PHP built with --enable-debug reports at its end every block that nobody has freed."""
    if php is None:
        return "absent"
    done = subprocess.run(
        [php, "-n", "-d", f"extension={extension}", HERE / "cycles.php", url, str(DEBUG_CYCLES)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode or re.search(r"Freeing 0x|leaks? detected", done.stdout):
        print(done.stdout, file=sys.stderr)
        return "leaks"
    return "clean"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=1_000_000, help="messages, of each language")
    parser.add_argument("--asan", choices=["clean", "findings", "skipped"], default="skipped")
    parser.add_argument("--php-debug", metavar="PHP", help="a PHP built with --enable-debug")
    parser.add_argument("--php-debug-extension", metavar="FILE", default="", help="dueq.so for it")
    options = parser.parse_args()
    with Server() as server:
        words = (server.url, str(options.cycles))
        python = grown_kib(sys.executable, HERE / "cycles.py", *words)
        php = grown_kib("php", HERE / "cycles.php", *words)
        debug = php_debug(options.php_debug, options.php_debug_extension, server.url)
    print(
        f"leaks: python_cycles={options.cycles} python_growth_kib={python} "
        f"php_cycles={options.cycles} php_growth_kib={php} asan={options.asan} php_debug={debug}"
    )
    flat = max(python, php) <= GROWTH_LIMIT_KIB
    sys.exit(not flat or options.asan == "findings" or debug == "leaks")


if __name__ == "__main__":
    main()
