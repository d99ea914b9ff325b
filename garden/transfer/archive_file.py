"""The file of an archive: a tar of plain files, compressed with gzip, and a manifest with every checksum.

The same members give the same bytes. A reader never writes under the name of a member: it copies all of them
into one file without a name, within limits, and finds them there by their place.
"""

import gzip
import json
import os
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO, ClassVar, NamedTuple

from garden.grammar.errors import GardenError

MANIFEST = "MANIFEST.json"
_BLOCK = 512
_PIECE = 1 << 20
_MODE = 0o600
_GZIP = b"\x1f\x8b"
# An archive within these limits may be read whole; a larger one only if it does not shrink suspiciously well.
_UNPACKED_MAX = 1 << 28
_RATIO_MAX = 100
LINE_MAX = 1 << 24


class ArchiveError(GardenError):
    """The file is no whole archive."""

    code: ClassVar[str] = "invalid_input"

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(f"The archive can't be used: {why}.", hint="Export it again, or copy it again.")


class Member(NamedTuple):
    """The place, size and checksum of a member."""

    start: int
    size: int
    sha256: str


class ArchiveWriter:
    """Writes members one after the other; `close` adds the manifest."""

    def __init__(self, file: IO[bytes]) -> None:
        self._gzip = gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0)
        self._tar = tarfile.TarFile(fileobj=self._gzip, mode="w", format=tarfile.USTAR_FORMAT)
        self._members: dict[str, dict[str, Any]] = {}

    def add(self, name: str, pieces: Iterable[bytes]) -> None:
        """Add a member."""
        self.put(name, spool(pieces))

    def put(self, name: str, content: "Spool") -> None:
        """Add a member that was spooled."""
        header = tarfile.TarInfo(name)
        header.size, header.mode = content.size, _MODE
        with content.file:
            self._tar.addfile(header, content.file)
        self._members[name] = {"bytes": content.size, "sha256": content.sha256}

    def close(self, about: dict[str, Any]) -> None:
        """Add the manifest, which also holds what is said `about` the archive."""
        text = json.dumps({**about, "members": self._members}, indent=1, sort_keys=True) + "\n"
        self.add(MANIFEST, [text.encode()])
        self._tar.close()
        self._gzip.close()


class Spool(NamedTuple):
    """The content of a member in a file without a name."""

    file: IO[bytes]
    size: int
    sha256: str


def spool(pieces: Iterable[bytes]) -> Spool:
    """Write the content of a member into a file without a name: its size comes before it in an archive."""
    file, digest, size = TemporaryFile(), sha256(), 0  # noqa: SIM115 - the writer closes it
    for piece in pieces:
        digest.update(piece)
        size += file.write(piece)
    file.seek(0)
    return Spool(file, size, digest.hexdigest())


@dataclass(frozen=True)
class Archive:
    """An archive that was read: its members, and what its manifest says."""

    members: dict[str, Member]
    manifest: dict[str, Any]
    _content: IO[bytes]

    def read(self, name: str) -> bytes:
        """Read a member; several threads may."""
        member = self._member(name)
        return os.pread(self._content.fileno(), member.size, member.start)

    def lines(self, name: str) -> Iterator[bytes]:
        """Read a member line by line; other members may be read in between."""
        member = self._member(name)
        at, end = member.start, member.start + member.size
        while at < end:
            self._content.seek(at)
            line = self._content.readline(min(LINE_MAX, end - at))
            if not line.endswith(b"\n"):
                raise ArchiveError(f"{name} has a line that is cut off, or too long")
            at += len(line)
            yield line

    def _member(self, name: str) -> Member:
        if name not in self.members:
            raise ArchiveError(f"{name} is missing")
        return self.members[name]


def is_archive(path: Path) -> bool:
    """Whether a file is compressed as an archive is."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(2) == _GZIP
    return False


@contextmanager
def read_archive(path: Path) -> Iterator[Archive]:
    """Read an archive within limits, and compare every member with the manifest."""
    with TemporaryFile() as content:
        try:
            with path.open("rb") as file:
                members = dict(_members(file, content, path.stat().st_size))
            content.flush()
            manifest = _checked_manifest(Archive(members, {}, content))
        except (EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError, UnicodeDecodeError):
            raise ArchiveError("it is damaged or cut off, or no archive at all") from None
        yield Archive(members, manifest, content)


def _members(file: BinaryIO, content: IO[bytes], packed: int) -> Iterator[tuple[str, Member]]:
    most, names = max(_UNPACKED_MAX, packed * _RATIO_MAX), set[str]()
    with gzip.GzipFile(fileobj=file, mode="rb") as stream:
        while (block := _exactly(stream, _BLOCK)) != bytes(_BLOCK):
            header = tarfile.TarInfo.frombuf(block, "ascii", "strict")
            # Links, folders and headers that announce long names are all refused.
            if header.type != tarfile.REGTYPE or header.name.endswith("/"):
                raise ArchiveError("it holds something that is no plain file")
            if header.name in names:
                raise ArchiveError("it holds two members of one name")
            if header.size < 0 or stream.tell() + header.size > most:
                raise ArchiveError("its members are larger than an archive of this size can hold")
            names.add(header.name)
            yield header.name, _copied(stream, content, header.size)
            _exactly(stream, -header.size % _BLOCK)
        # Reading to the end also compares the checksum of the compression.
        if any(stream.read(2 * tarfile.RECORDSIZE)) or stream.read(1):
            raise ArchiveError("something follows its last member")


def _copied(stream: gzip.GzipFile, content: IO[bytes], size: int) -> Member:
    start, digest, left = content.tell(), sha256(), size
    while left:
        piece = _exactly(stream, min(left, _PIECE))
        digest.update(piece)
        content.write(piece)
        left -= len(piece)
    return Member(start, size, digest.hexdigest())


def _exactly(stream: gzip.GzipFile, size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise EOFError
    return data


def _checked_manifest(archive: Archive) -> dict[str, Any]:
    if archive.members.get(MANIFEST, Member(0, 0, "")).size > 4 * LINE_MAX:
        raise ArchiveError("its manifest is too large")
    try:
        manifest: dict[str, Any] = json.loads(archive.read(MANIFEST))
        listed = {name: (each["bytes"], each["sha256"]) for name, each in manifest["members"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ArchiveError("its manifest is not one that an export writes") from None
    found = {name: (each.size, each.sha256) for name, each in archive.members.items() if name != MANIFEST}
    for name in sorted(found.keys() | listed.keys()):
        if name not in listed:
            raise ArchiveError(f"{name!r} is not in its manifest")
        if name not in found:
            raise ArchiveError(f"{name!r} is missing")
        if found[name] != listed[name]:
            raise ArchiveError(f"{name!r} is not as the manifest says: its size or checksum differs")
    return manifest
