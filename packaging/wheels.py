"""
Builds Python wheels: python packaging/wheels.py [TARGET...]. Each has the extension, with all its
libraries inside, and a whole command dueq. They come into build/wheels; those of
macOS into build/wheels/untried.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import debian
import libraries
import sources
from archives import Member, zipped
from elf import as_alpine_names_libc, export_map
from project import ROOT, source_date, version
from targets import CACHE, COMPILE, Target, chosen, run

OUT = ROOT / "build" / "wheels"
# Nothing here can run them: publish them only after a machine of theirs has passed the contract.
UNTRIED = OUT / "untried"
MOST_BYTES = 8_000_000


@dataclass(frozen=True)
class Python:
    """
    What a wheel is for.

    tag       of the interpreter and its binary interface, in the wheel's name
    suite     of Debian, where `package` has the headers of this version
    """

    tag: str
    suite: str
    package: str

    @property
    def version(self) -> str:
        """As in the name of the folder of headers: "3.14"."""
        found = re.match(r"cp(\d)(\d+)-", self.tag)
        assert found
        return f"{found[1]}.{found[2]}"

    @property
    def free_threaded(self) -> bool:
        return self.tag.endswith("t")

    def headers(self) -> Path:
        """
        The headers, with the pyconfig.h of x86-64. For the headers alone it is right on each system
        with 64 bits: none of the sizes in it differ.
        """
        folder = CACHE / "headers" / self.tag
        if not (folder / "Python.h").exists():
            unpacked = debian.unpacked(self.suite, self.package)
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(unpacked / "usr/include" / f"python{self.version}", folder)
            own = next((unpacked / "usr/include").glob(f"*-linux-gnu/python{self.version}"))
            text = (own / "pyconfig.h").read_text(encoding="utf-8")
            if self.free_threaded:
                text += "\n#define Py_GIL_DISABLED 1\n"
            (folder / "pyconfig.h").write_text(text, encoding="utf-8")
        return folder


# A Python without the GIL loads no module with the stable ABI. Other Pythons load the first one.
PYTHONS = [
    Python("cp311-abi3", "bookworm", "libpython3.11-dev"),
    Python("cp314-cp314t", "forky", "libpython3.14-dev"),
    Python("cp315-cp315t", "forky", "libpython3.15-dev"),
]


def wheels(target: Target) -> list[Path]:
    libraries.build(target)
    tree = copy_of_the_sources(target)
    stable, *others = PYTHONS
    files = stable_wheel(target, stable, tree)
    made = [written(target, stable, files)]
    del files[next(name for name in files if name.endswith(".abi3.so"))]
    for python in others:
        name, content = extension(target, python, tree)
        made.append(written(target, python, {**files, name: content}))
    return made


def written(target: Target, python: Python, files: dict[str, bytes]) -> Path:
    tag = f"{python.tag}-{target.name}"
    path = (UNTRIED if target.is_macos else OUT) / f"dueq-{version()}-{tag}.whl"
    write(path, finished(files, target, tag))
    size = path.stat().st_size
    print(f"  {path.relative_to(ROOT)} {size / 1e6:.1f} MB", flush=True)
    if size > MOST_BYTES:
        sys.exit(f"{path.name} is larger than {MOST_BYTES / 1e6} MB")
    return path


def copy_of_the_sources(target: Target) -> Path:
    """A copy, because setuptools writes into the tree, and other builds use this one."""
    tree = target.folder / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    for name in sources.of_the_repository():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / name)
    return tree


def stable_wheel(target: Target, python: Python, tree: Path) -> dict[str, bytes]:
    """The files of the wheel that setup.py makes, by their names."""
    made = target.folder / python.tag
    words = ["bdist_wheel", "--plat-name", target.name, "--dist-dir", str(made / "dist")]
    set_up(target, python, tree, words)
    (wheel,) = (made / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(made / "files")
    (module,) = (made / "files").rglob("_core.*.so")
    as_alpine_names_libc(module, target)
    found = [path for path in (made / "files").rglob("*") if path.is_file()]
    return {str(path.relative_to(made / "files")): path.read_bytes() for path in found}


def extension(target: Target, python: Python, tree: Path) -> tuple[str, bytes]:
    """
    The extension alone, and its name in a wheel. bdist_wheel makes no wheel for another interface
    than the running Python's.
    """
    made = target.folder / python.tag
    set_up(target, python, tree, ["build_ext", "--build-lib", str(made / "lib")])
    (built,) = (made / "lib").rglob("_core.*.so")
    as_alpine_names_libc(built, target)
    return str(built.relative_to(made / "lib")), built.read_bytes()


def set_up(target: Target, python: Python, tree: Path, words: list[str]) -> None:
    """Runs setup.py for a target and a Python."""
    made = target.folder / python.tag
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    settings = made / "dueq_target.py"
    settings.write_text(f"build_time_vars = {build_time(target, python)!r}\n", encoding="utf-8")
    environment = {
        **target.environment(),
        # So one builds for another Python than the one that runs: by the other one's sysconfig.
        "_PYTHON_SYSCONFIGDATA_NAME": settings.stem,
        "_PYTHON_HOST_PLATFORM": target.python_platform,
        "PYTHONPATH": str(made),
        "LDFLAGS": "-s" if target.is_macos else "-s -Wl,--gc-sections",
    }
    log = target.folder / f"{python.tag}.log"
    log.unlink(missing_ok=True)
    base = ["build", "--build-base", str(made / "build"), "--parallel", libraries.jobs()]
    run([sys.executable, "setup.py", "-q", *base, *words], tree, environment, log)


def build_time(target: Target, python: Python) -> dict[str, str | int]:
    """The variables of sysconfig that setuptools reads."""
    interface = f"cpython-{python.tag.rpartition('cp')[2]}"
    soabi = f"{interface}-{'darwin' if target.is_macos else target.host}"
    share = "-shared -undefined dynamic_lookup"
    if not target.is_macos:
        exports = export_map(target.folder / python.tag, "PyInit__core")
        share = f"-shared -Wl,--version-script={exports}"
    return {
        "CC": "dueq-cc",
        "CXX": "dueq-cc",
        "AR": "dueq-ar",
        "ARFLAGS": "rcs",
        "CFLAGS": COMPILE,
        "OPT": "",
        "CCSHARED": "-fPIC",
        "LDSHARED": f"dueq-cc {share}",
        "LDCXXSHARED": f"dueq-cc {share}",
        "SHLIB_SUFFIX": ".so",
        "EXT_SUFFIX": f".{soabi}.so",
        "SOABI": soabi,
        "INCLUDEPY": str(python.headers()),
        "CONFINCLUDEPY": str(python.headers()),
        "MACOSX_DEPLOYMENT_TARGET": "11.0" if target.is_macos else "",
        "Py_ENABLE_SHARED": 0,
        "Py_GIL_DISABLED": int(python.free_threaded),
        "VERSION": python.version,
    }


def finished(files: dict[str, bytes], target: Target, tag: str) -> dict[str, bytes]:
    """The files of a wheel of this tag: with what is inside, its licences, and a RECORD."""
    info = f"dueq-{version()}.dist-info"
    done = {name: content for name, content in files.items() if name != f"{info}/RECORD"}
    python, abi, _ = tag.split("-", 2)
    wheel = done[f"{info}/WHEEL"].decode()
    wheel = re.sub(r"^Tag: .*\n", "", wheel, flags=re.M).rstrip("\n")
    done[f"{info}/WHEEL"] = f"{wheel}\nTag: {python}-{abi}-{target.name}\n".encode()
    metadata = done[f"{info}/METADATA"].decode()
    ours = "License-Expression: MIT\n"
    own = "License-File: LICENSE\n"
    if ours not in metadata or own not in metadata:
        sys.exit(f"METADATA of {tag} has no {ours!r} or no {own!r}")
    lines = ""
    for path in sorted((target.prefix / "licences").glob("*.txt")):
        done[f"{info}/licenses/inside/{path.name}"] = path.read_bytes()
        lines += f"License-File: inside/{path.name}\n"
    metadata = metadata.replace(own, own + lines, 1)
    inside = {entry["spdx"] for entry in sources.listed().values()} - {"MIT"}
    all_of_them = " AND ".join(["MIT", *sorted(inside)])
    metadata = metadata.replace(ours, f"License-Expression: {all_of_them}\n", 1)
    done[f"{info}/METADATA"] = metadata.encode()
    done[f"{info}/sboms/dueq.cdx.json"] = json.dumps(bill(), indent=1).encode()
    done[f"{info}/RECORD"] = record(done, f"{info}/RECORD")
    return done


def bill() -> dict[str, object]:
    """What is inside (PEP 770), as CycloneDX has it."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "metadata": {"component": {"type": "library", "name": "dueq", "version": version()}},
        "components": sources.components(),
    }


def record(files: dict[str, bytes], own: str) -> bytes:
    """The file RECORD, which names all files and has no checksum of its own."""
    lines = []
    for name, content in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{own},,\n"]).encode()


def write(path: Path, files: dict[str, bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    members = {
        name: Member(content, executable="/scripts/" in name or name.endswith(".so"))
        for name, content in files.items()
    }
    zipped(path, members, source_date())


if __name__ == "__main__":
    for target in chosen(sys.argv[1:]):
        wheels(target)
