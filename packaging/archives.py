"""Archives that depend on their contents alone: the same files give the same bytes."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# A file of a zip cannot be older.
FIRST_DAY_OF_ZIP = 315532800


@dataclass(frozen=True)
class Member:
    content: bytes
    executable: bool = False

    @property
    def mode(self) -> int:
        return 0o755 if self.executable else 0o644


def member(path: Path) -> Member:
    return Member(path.read_bytes(), bool(path.stat().st_mode & 0o100))


def tgz(path: Path, members: Mapping[str, Member], date: int) -> None:
    """Writes a compressed tar, whose files carry the date: seconds since 1970."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, found in sorted(members.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(found.content), found.mode, date
            archive.addfile(entry, io.BytesIO(found.content))
    # An empty name: the header would carry the archive's own.
    with (
        path.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=date) as squeezed,
    ):
        squeezed.write(packed.getvalue())


def zipped(path: Path, members: Mapping[str, Member], date: int) -> None:
    """Writes a zip. date: as in tgz()."""
    year, month, day, hour, minute, second = time.gmtime(max(date, FIRST_DAY_OF_ZIP))[:6]
    with zipfile.ZipFile(path, "w") as archive:
        for name, found in sorted(members.items()):
            entry = zipfile.ZipInfo(name, (year, month, day, hour, minute, second))
            entry.create_system = 3  # Unix, whatever this system is
            # pip makes a file executable only if the zip says that it is a regular file.
            entry.external_attr = (stat.S_IFREG | found.mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, found.content, compresslevel=9)
