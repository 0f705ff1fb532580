"""What a static analyser at its highest level makes of the types of PHP's stub and packages.

The analyser is mago, which `./dev analyser` installs by cargo. Where it is not installed these
tests are skipped and say so; tests/php/TypesTest.php needs no analyser.
"""

import json
import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
BINDINGS = ROOT / "bindings/php"
PROGRAMS = ROOT / "tests/php/types"
SETUP = (ROOT / "dev.d/test.sh").read_text(encoding="utf-8")
PHP_LIBRARIES = Path("/usr/share/php")

# All that mago has beyond its defaults, but for what is a matter of taste.
STRICT = """
php-version = "8.2"
[source]
paths = [{paths}]
includes = [{includes}]
[analyzer]
minimum-fail-level = "note"
find-overly-wide-return-types = true
strict-list-index-checks = true
strict-array-index-existence = true
no-boolean-literal-comparison = true
check-missing-type-hints = true
check-closure-missing-type-hints = true
check-arrow-function-missing-type-hints = true
check-use-statements = true
check-name-casing = true
"""

# What is said of declarations, not of the statements in functions.
DECLARATIONS = re.compile(
    r"imprecise-type|missing-(property|constant)-type|.*docblock.*|.*type-alias.*"
    r"|incompatible-(parameter|property|return|constant)-type|.*template-parameter.*"
)

DIFFERENT = {
    # Closures: mago does not read the documentation before their assignment.
    ("worker/src/OpenTelemetry.php", "imprecise-type"),
    ("worker/src/Task.php", "imprecise-type"),
    # The array has these keys; Laravel's interface says that it is an array.
    ("laravel/src/DueqConnector.php", "incompatible-parameter-type"),
    # Symfony 5.4 says Envelope[]; the native type, and what later versions say, is an iterable.
    ("symfony/src/DueqTransport.php", "incompatible-return-type"),
    # The interface is generic since Symfony 6.1.
    ("symfony/src/DueqTransportFactory.php", "excess-template-parameter"),
}


class Issue(NamedTuple):
    file: str
    line: int
    code: str
    text: str


def mago() -> Path:
    """The analyser of the version that these tests know."""
    found = re.search(r"^MAGO=([\d.]+)$", SETUP, flags=re.M)
    assert found, "dev.d/test.sh names the version"
    path = shutil.which("mago") or shutil.which("mago", path=Path.home() / ".cargo/bin")
    if path:
        told = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
        if told.stdout.strip() == f"mago {found[1]}":
            return Path(path)
    pytest.skip(f"mago {found[1]} is not installed: ./dev analyser installs it by cargo")


@pytest.fixture
def stub(tmp_path: Path) -> Path:
    """The stub as source: its methods have no statements, and one constant has no value."""
    text = (BINDINGS / "dueq.stub.php").read_text(encoding="utf-8")
    text = text.replace("= UNKNOWN;", '= "";')
    text, count = re.subn(r"\{\}$", r"{ throw new \\LogicException(); }", text, flags=re.M)
    assert count > 100
    path = tmp_path / "stub/dueq.php"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return path


def analyse(folder: Path, paths: list[Path], includes: list[Path]) -> list[Issue]:
    def listed(chosen: list[Path]) -> str:
        return ", ".join(json.dumps(str(path)) for path in chosen if path.exists())

    config = folder / "mago.toml"
    config.write_text(STRICT.format(paths=listed(paths), includes=listed(includes)))
    command = f"{mago()} --workspace / --config {config} analyze --reporting-format json"
    done = subprocess.run(command.split(), capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    issues = []
    for issue in json.loads(done.stdout)["issues"] if done.stdout.strip() else []:
        [place] = [at["span"] for at in issue["annotations"] if at["kind"] == "Primary"]
        line = place["start"]["line"] + 1
        issues.append(Issue(place["file_id"]["path"], line, issue["code"], issue["message"]))
    return issues


def test_the_stub_has_nothing_to_say_of(stub: Path, tmp_path: Path) -> None:
    """PHP has no type for a resource, as stream() returns one."""
    issues = analyse(tmp_path, [stub.parent], [])
    assert [issue for issue in issues if "`stream`" not in issue.text] == []


@pytest.mark.parametrize("package", ["worker", "laravel", "symfony"])
def test_declarations_of_the_packages(package: str, stub: Path, tmp_path: Path) -> None:
    source = BINDINGS / package / "src"
    used = [stub.parent, *(PHP_LIBRARIES / name for name in ["Illuminate", "Psr", "Symfony"])]
    if package != "worker":
        used.append(BINDINGS / "worker/src")
    assert [
        issue
        for issue in analyse(tmp_path, [source], used)
        if DECLARATIONS.fullmatch(issue.code)
        and not any(issue.file.endswith(file) and issue.code == code for file, code in DIFFERENT)
    ] == []


def test_a_program_that_is_right(stub: Path, tmp_path: Path) -> None:
    used = [stub.parent, BINDINGS / "worker/src", PHP_LIBRARIES / "Psr"]
    assert analyse(tmp_path, [PROGRAMS / "right.php"], used) == []


def test_a_program_that_is_wrong(stub: Path, tmp_path: Path) -> None:
    """Each line that names an issue in a comment has it, and no other line has one."""
    program = PROGRAMS / "wrong.php"
    used = [stub.parent, BINDINGS / "worker/src", PHP_LIBRARIES / "Psr"]
    found: defaultdict[int, set[str]] = defaultdict(set)
    for issue in analyse(tmp_path, [program], used):
        found[issue.line].add(issue.code)
    lines = program.read_text(encoding="utf-8").splitlines()
    named = {
        number: line.split(" // ")[1] for number, line in enumerate(lines, 1) if " // " in line
    }
    assert len(named) > 10
    assert set(found) == set(named)
    assert [number for number, code in named.items() if code not in found[number]] == []
