#!/usr/bin/env python3
"""Makes dueq_arginfo.h of dueq.stub.php, with PHP's own gen_stub.php: bindings/php/arginfo.py

gen_stub.php reads the types of the documentation too, and knows few of them. So it gets the stub
without its documentation, except for the tags that change what gen_stub.php writes. The header
carries the hash of the whole stub, which a test compares.

It needs PHP 8.2 with php-config (Debian: php-dev, php-parser): what the gen_stub.php of a newer PHP
writes does not compile with PHP 8.2.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PARSER = Path("/usr/share/php/PhpParser")

# "@var string" is for constants with @cvalue.
TAGS = re.compile(
    r"@(?:strict-properties|not-serializable|cvalue|implementation-alias|generate-class-entries"
    r"|return resource)\b[^\n*]*"
)


def config(option: str) -> str:
    made = subprocess.run(["php-config", option], capture_output=True, text=True, check=True)
    return made.stdout.strip()


def bare(comment: re.Match[str]) -> str:
    tags = TAGS.findall(comment[0])
    if any(tag.startswith("@cvalue") for tag in tags):
        tags.append("@var string")
    return "/**\n" + "".join(f" * {tag}\n" for tag in tags) + " */" if tags else ""


def main() -> None:
    if not config("--version").startswith("8.2."):
        sys.exit("arginfo.py: php-config is not that of PHP 8.2")
    tool = Path(config("--prefix"), "lib/php", config("--phpapi"), "build/gen_stub.php")
    stub = (HERE / "dueq.stub.php").read_text()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        shutil.copy(tool, place)
        found = re.search(r'\$version = "([\d.]+)";', tool.read_text())
        assert found, "gen_stub.php names the version of its parser"
        parser = place / f"PHP-Parser-{found[1]}" / "lib"
        parser.mkdir(parents=True)
        (parser / "PhpParser").symlink_to(PARSER)
        (place / "dueq.stub.php").write_text(re.sub(r"/\*\*.*?\*/", bare, stub, flags=re.S))
        subprocess.run(
            ["php", "gen_stub.php", "-f", "dueq.stub.php"],
            cwd=place,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        header = (place / "dueq_arginfo.h").read_text()
    own = hashlib.sha1(stub.encode(), usedforsecurity=False).hexdigest()
    (HERE / "dueq_arginfo.h").write_text(
        re.sub(r"Stub hash: \w+", f"Stub hash: {own}", header, count=1)
    )


if __name__ == "__main__":
    main()
