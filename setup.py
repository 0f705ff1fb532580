"""
Builds dueq._core, the C core and its SWIG wrapper in one extension, and the command dueq of the
same core. See pyproject.toml.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.install_scripts import install_scripts
from setuptools.command.sdist import sdist
from setuptools.modified import newer_group

HEADER = Path("core/dueq.h")
HEADERS = [*Path("core").glob("dueq*.h"), *Path("interop").glob("dueq_*.h")]
FOLDERS = ["core", "interop"]
COMMAND_FOLDERS = ["cli", "servers"]
WRAPPER = "swig/dueq_wrap.c"
COMMAND = "dueq"
SWIG_OPTIONS = [
    *["-python", "-interface", "_core", "-noproxy", "-nogil", "-Wall"],
    *["-Icore", "-Iinterop"],
]
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
MACROS = [("_GNU_SOURCE", None), ("DUEQ_API", "")]
if not FREE_THREADED:
    MACROS.append(("Py_LIMITED_API", "0x030B0000"))


def version() -> str:
    found = re.search(r'#define DUEQ_VERSION "(.+)"', HEADER.read_text(encoding="utf-8"))
    assert found, f"{HEADER} has no DUEQ_VERSION"
    return found[1]


def sources() -> list[str]:
    lists = [Path(folder, "sources.list").read_text(encoding="utf-8") for folder in FOLDERS]
    return " ".join(lists).split()


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def pkg_config(*words: str) -> list[str]:
    try:
        return output("pkg-config", *words, "hiredis", "openssl").split()
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"dueq needs pkg-config and the headers of hiredis and OpenSSL: {error}")


# The system that is built for. It is not this one where packaging/wheels.py builds for another.
MACOS = sysconfig.get_platform().startswith("macosx")
# As in CMakeLists.txt and config.m4: a buffer overrun ends the process, and addresses that the
# loader filled in are read-only.
HARDENED_LINK = [] if MACOS else ["-Wl,-z,relro,-z,now"]


def hardened(compiler: list[str]) -> list[str]:
    """The compiler's options. _FORTIFY_SOURCE is 3 where the C library knows it, else it warns."""
    fortify = ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3"]
    header = ["-E", "-x", "c", "-include", "string.h", os.devnull, "-o", os.devnull]
    known = subprocess.run(
        [*compiler, "-O2", "-Werror", *fortify, *header],
        stderr=subprocess.DEVNULL,
        check=False,
    )
    if known.returncode != 0:
        fortify[1] = "-D_FORTIFY_SOURCE=2"
    return ["-fstack-protector-strong", *fortify]


COMMAND_NEEDS = ["json-c", "libmicrohttpd"]
SCREEN_NEEDS = "ncursesw"  # of dueq top, which says so without


def exists(*libraries: str) -> bool:
    return subprocess.run(["pkg-config", "--exists", *libraries], check=False).returncode == 0


def has_command() -> bool:
    return exists(*COMMAND_NEEDS)


def wrap() -> None:
    """Brings the wrapper up to date. An sdist holds it, for builds without SWIG 4.4 or later."""
    if not newer_group(list(map(str, [*HEADERS, *Path("swig").glob("*.i")])), WRAPPER):
        return
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    swig = shutil.which("swig", path=path)
    if swig:
        found = re.search(r"Version (\d+)\.(\d+)", output(swig, "-version"))
        if found and (int(found[1]), int(found[2])) >= (4, 4):
            output(swig, *SWIG_OPTIONS, "-o", WRAPPER, "swig/dueq.i")
            return
    if not Path(WRAPPER).exists():
        sys.exit("dueq needs SWIG 4.4 or later (pip install swig)")


class BuildExt(build_ext):
    def run(self) -> None:
        wrap()
        super().run()
        if has_command():
            self.link_command()

    def build_extensions(self) -> None:
        self.hardened = hardened(self.compiler.compiler)
        for extension in self.extensions:
            extension.extra_compile_args += [*self.hardened, *pkg_config("--cflags")]
            extension.extra_link_args += [*HARDENED_LINK, *pkg_config("--libs")]
        super().build_extensions()

    def link_command(self) -> None:
        """The command, of the objects of the core that the extension has."""
        has_screen = exists(SCREEN_NEEDS)
        needs = [*COMMAND_NEEDS, *([SCREEN_NEEDS] if has_screen else [])]
        objects = self.compiler.object_filenames(sources(), output_dir=self.build_temp)
        objects += self.compiler.compile(
            sorted(str(path) for folder in COMMAND_FOLDERS for path in Path(folder).rglob("*.c")),
            output_dir=self.build_temp,
            macros=[*MACROS, *([("DUEQ_NCURSES", None)] if has_screen else [])],
            include_dirs=[*FOLDERS, "."],
            extra_postargs=["-std=gnu11", "-fPIE", *self.hardened, *pkg_config("--cflags", *needs)],
        )
        self.compiler.link_executable(
            objects,
            COMMAND,
            output_dir=self.build_temp,
            extra_postargs=[
                *["-pthread", "-pie", *HARDENED_LINK],
                *shlex.split(os.environ.get("LDFLAGS", "")),
                *pkg_config("--libs", *needs),
            ],
        )


class InstallScripts(install_scripts):
    """Installs the command. Where it was not built, the script that says so stays in its place."""

    def run(self) -> None:
        super().run()
        if has_command():
            built = Path(self.get_finalized_command("build_ext").build_temp, COMMAND)
            self.copy_file(str(built), str(Path(self.install_dir, COMMAND)))


class SDist(sdist):
    def run(self) -> None:
        wrap()
        super().run()


core = Extension(
    "dueq._core",
    sources=[WRAPPER, *sources()],
    depends=[str(path) for folder in [*FOLDERS, "swig"] for path in Path(folder).rglob("*.[hi]*")],
    include_dirs=FOLDERS,
    define_macros=MACROS,
    extra_compile_args=["-std=gnu11", "-fvisibility=hidden"],
    py_limited_api=not FREE_THREADED,
)

setup(
    version=version(),
    ext_modules=[core],
    scripts=[f"bindings/python/bin/{COMMAND}"],
    cmdclass={"build_ext": BuildExt, "install_scripts": InstallScripts, "sdist": SDist},
    options={} if FREE_THREADED else {"bdist_wheel": {"py_limited_api": "cp311"}},
)
