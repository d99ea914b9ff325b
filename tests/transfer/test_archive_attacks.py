"""Archives that were damaged, forged or made to do harm: found by the check, refused by the import."""

import gzip
import io
import json
import tarfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from garden.application import Garden
from garden.events.accounts import Accounts
from garden.home.folder import ensure_home
from garden.transfer.archive_check import check_archive
from garden.transfer.archive_file import ArchiveError
from garden.transfer.archive_imports import import_archive
from garden.transfer.archives import UNKNOWN, write_archive
from tests.support.databases import TestServer
from tests.support.folders import fresh_folder, run_folder
from tests.support.gardens import CRITIC, NOTES, ok, plant, rows
from tests.support.planted import opened, put_database

Members = dict[str, bytes]


@pytest.fixture(scope="module")
def right(server: TestServer) -> Members:
    """The members of a right archive."""
    template = server.template()
    with (
        fresh_folder(run_folder()) as folder,
        server.database(template) as url,
        _garden(folder, url) as garden,
    ):
        ada = garden.session("ada", "companion")
        plant(ada, CRITIC, NOTES)
        ok(ada, "fs.append", path=NOTES, text="Slept well.")
        change = {"replace": "- Says yes"}
        ok(ada, "md.patch_section", path=CRITIC, sectionAnchor="concerns v1", change=change, rationale="So.")
        ok(ada, "events.log", type="observation", op="seen", rationale="She smiled.")
        write_archive(garden.services, "ada", folder / "right.tar.gz")
        with tarfile.open(folder / "right.tar.gz") as tar:
            return {each.name: tar.extractfile(each).read() for each in tar}  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def garden(server: TestServer) -> Iterator[Garden]:
    """A home that refuses every archive of this module, and so stays empty."""
    template = server.template()
    with (
        fresh_folder(run_folder()) as folder,
        server.database(template) as url,
        _garden(folder, url) as garden,
    ):
        yield garden


@pytest.fixture
def members(right: Members) -> Members:
    return dict(right)


def _garden(folder: Path, url: str) -> Garden:
    home = ensure_home(folder / "home")
    put_database(home, url)
    return opened(home)


def _pack(file: Path, members: Members, *, anew: bool, first: bytes = b"") -> Path:
    """Write an archive, after a `first` block; `anew` fits the manifest to the members, as a forger would."""
    listed = {name: content for name, content in members.items() if name != "MANIFEST.json"}
    if anew:
        sums = {
            name: {"bytes": len(each), "sha256": sha256(each).hexdigest()} for name, each in listed.items()
        }
        manifest = {**json.loads(members["MANIFEST.json"]), "members": sums}
        listed["MANIFEST.json"] = json.dumps(manifest).encode()
    else:
        listed["MANIFEST.json"] = members["MANIFEST.json"]
    tar_file = io.BytesIO()
    with tarfile.open(fileobj=tar_file, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in listed.items():
            tar.addfile(_header(name, size=len(content)), io.BytesIO(content))
    file.write_bytes(gzip.compress(first + tar_file.getvalue()))
    return file


def _is_refused(garden: Garden, file: Path) -> str:
    """The fault of an archive, which its import refuses without a trace."""
    verdict = check_archive(file)
    assert verdict.faults
    with pytest.raises(ArchiveError) as refusal:
        import_archive(garden.services, Accounts(garden.pools["writers"], garden.keys), file)
    assert verdict.faults[0] in refusal.value.message
    assert not list(garden.home.path.glob("[uh]*/*"))
    assert rows(garden.session("ada", "reader")) == []
    return verdict.faults[0]


def _swap(name: str, old: bytes, new: bytes) -> Callable[[Members], None]:
    def swap(members: Members) -> None:
        assert old in members[name]
        members[name] = members[name].replace(old, new, 1)

    return swap


def _line(name: str, change: Callable[[list[bytes]], None]) -> Callable[[Members], None]:
    def edit(members: Members) -> None:
        lines = members[name].splitlines(keepends=True)
        change(lines)
        members[name] = b"".join(lines)

    return edit


def _set(name: str, place: int, **values: object) -> Callable[[Members], None]:
    def change(lines: list[bytes]) -> None:
        lines[place] = json.dumps({**json.loads(lines[place]), **values}).encode() + b"\n"

    return _line(name, change)


def _set_first(name: str) -> Callable[[Members], None]:
    def change(lines: list[bytes]) -> None:
        lines[0] = json.dumps([*json.loads(lines[0])[:2], "A" * 43 + "="]).encode() + b"\n"

    return _line(name, change)


def _claimed(member: str, content: bytes) -> Callable[[Members], None]:
    """Add a file that the manifest calls unknown to the account."""

    def claim(members: Members) -> None:
        members[member] = content
        path = member.replace("files", "users/ada")
        said = {**json.loads(members["MANIFEST.json"]), "exceptions": {path: UNKNOWN}}
        members["MANIFEST.json"] = json.dumps(said).encode()

    return claim


def _of_ben(members: Members) -> None:
    for name in ("events.jsonl", "heads.jsonl"):
        members[name] = members[name].replace(b"users/ada", b"users/ben")


def _unproven(members: Members) -> None:
    """Change an event, and leave its proof out."""
    _set("events.jsonl", -1, actor="operator")(members)
    _line("proofs/leaves.jsonl", lambda lines: lines.__delitem__(-1))(members)


def _unlisted(members: Members) -> None:
    """Change an event, and leave it out of the feed and of the proofs."""
    _set("events.jsonl", -1, actor="operator")(members)
    for name in ("feed.jsonl", "proofs/leaves.jsonl"):
        _line(name, lambda lines: lines.__delitem__(-1))(members)


def _listed_twice(members: Members) -> None:
    """Change the newest event, and put the entry and the proof of another in the place of its own."""
    _set("events.jsonl", -1, actor="operator")(members)
    feed, leaves = (members[name].splitlines(keepends=True) for name in ("feed.jsonl", "proofs/leaves.jsonl"))
    twice = {**json.loads(feed[-2]), "position": len(feed)}
    members["feed.jsonl"] = b"".join([*feed[:-1], json.dumps(twice).encode() + b"\n"])
    members["proofs/leaves.jsonl"] = b"".join([*leaves[:-1], leaves[-2]])


ERASURE = {
    "row": "erasure",
    "user_id": "ada",
    "erasure_id": "01a1f615-d99c-77dc-9c3c-23704cda414f",
    "kind": "user",
    "reason": "none",
    "actor": "x",
    "role": "maintainer",
    "bytes": 0,
}
COPY = "history/parts/critic/profile/"
FORGERIES: dict[str, tuple[Callable[[Members], None], str]] = {
    "a reason": (_swap("events.jsonl", b"She smiled.", b"She frowned"), "its words were changed"),
    "a row gone": (_line("events.jsonl", lambda lines: lines.__delitem__(0)), "is missing"),
    "the newest row gone": (_line("events.jsonl", lambda lines: lines.__delitem__(-1)), "lead to its head"),
    "rows reordered": (_line("events.jsonl", lambda lines: lines.insert(0, lines.pop(1))), "is missing"),
    "rows mixed": (_line("events.jsonl", lambda lines: lines.insert(0, lines.pop(3))), "is missing"),
    "another user": (_set("events.jsonl", 0, user_id="ben"), "no row of this account"),
    "an unknown column": (_set("events.jsonl", 0, added=1), "no row of this account"),
    "no json": (_swap("events.jsonl", b"{", b"["), "no row of this account"),
    "deep json": (_line("events.jsonl", lambda lines: lines.insert(0, b"[" * 99_999 + b"\n")), "no row of"),
    "a wrong type": (_set("events.jsonl", 0, document_version="1"), "it is not version 1"),
    "a wrong list": (_set("events.jsonl", 0, splice_offsets=7), "values of a wrong form"),
    "an open event": (_set("events.jsonl", 0, status="pending"), "its state was changed"),
    "an actor": (_swap("events.jsonl", b'"actor": "companion"', b'"actor": "operator"'), "the signed log"),
    "a time": (_set("events.jsonl", 1, created_at="2026-01-01T00:00:00+00:00"), "the signed log"),
    "a checkpoint": (_swap("proofs/checkpoint", b"\n5\n", b"\n4\n"), "does not hold"),
    "a proof": (_set_first("proofs/nodes.jsonl"), "the signed log"),
    "a file": (_swap("files/notes.md", b"Slept well", b"Slept ill!"), "is not what its events say"),
    "a file gone": (lambda members: members.__delitem__("files/notes.md"), "is missing"),
    "a file more": (
        lambda members: members.update({"files/overview.md": b"x"}),
        "is not what its events say",
    ),
    "a head": (_set("heads.jsonl", 0, version=7), "do not lead to its head"),
    "a pending erasure": (
        lambda members: members.update({"erasures.jsonl": json.dumps(ERASURE).encode() + b"\n"}),
        "has not come to its end",
    ),
    "a document of another user": (_of_ben, "is a document of another user"),
    "no text": (_claimed("files/overview.md", b"\0"), "overview.md: "),
    "an actor and no proof": (_unproven, "the signed log"),
    "an actor out of the feed": (_unlisted, "the feed lacks"),
    "an actor whose entry is another's": (_listed_twice, "does not fit the events"),
    "the feed": (_set("feed.jsonl", 0, what="failed"), "entry 1 of the feed"),
    "a strange path": (lambda members: members.update({"files/../../x": b"x"}), "no document and no copy"),
    "a hidden file": (lambda members: members.update({"files/.bashrc": b"x"}), "no document and no copy"),
    "a foreign file": (lambda members: members.update({"/etc/passwd": b"x"}), "which no export writes"),
    "a large file": (lambda members: members.update({"files/overview.md": b"x" * (2 << 20)}), "larger than"),
    "no user": (_swap("MANIFEST.json", b'"user": "ada"', b'"user": "../a"'), "names no user"),
    "another format": (_swap("MANIFEST.json", b'"version": 1', b'"version": 2'), "not of the format"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_archive_is_found_and_changes_nothing(
    garden: Garden, members: Members, folder: Path, name: str
) -> None:
    forge, message = FORGERIES[name]
    forge(members)
    assert message in _is_refused(garden, _pack(folder / "forged.tar.gz", members, anew=True))


def test_a_forged_copy_is_found(garden: Garden, members: Members, folder: Path) -> None:
    [copy] = [name for name in members if name.startswith(COPY)]
    members[copy] += b"\nmore\n"
    assert "is not what its event left" in _is_refused(garden, _pack(folder / "a.tar.gz", members, anew=True))


def test_a_copy_in_the_history_of_another_document_is_named(members: Members, folder: Path) -> None:
    [copy] = [name for name in members if name.startswith(COPY)]
    members[copy.replace(COPY, "history/notes/")] = members.pop(copy)
    [note] = check_archive(_pack(folder / "a.tar.gz", members, anew=True)).notes
    assert "no event tells of this copy" in note


def _header(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0, link: str = "") -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.type, header.size, header.linkname = kind, size, link
    return header


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (_header("files/notes.md", tarfile.SYMTYPE, link="/etc/passwd"), "no plain file"),
        (_header("files/notes.md", tarfile.LNKTYPE, link="README.txt"), "no plain file"),
        (_header("files", tarfile.DIRTYPE), "no plain file"),
        (_header("files/notes.md", tarfile.GNUTYPE_LONGNAME, 1 << 32), "no plain file"),
        (_header("files/notes.md", tarfile.XHDTYPE, 1 << 32), "no plain file"),
        (_header("files/notes.md", tarfile.REGTYPE, 1 << 32), "larger than an archive of this size"),
        (_header("files/notes.md"), "two members of one name"),
        (_header("files/overview.md"), "is not in its manifest"),
    ],
)
def test_only_plain_files_with_names_and_sizes_of_their_own_are_read(
    garden: Garden, members: Members, folder: Path, header: tarfile.TarInfo, message: str
) -> None:
    file = _pack(folder / "a.tar.gz", members, anew=False, first=header.tobuf(tarfile.USTAR_FORMAT))
    assert message in _is_refused(garden, file)


def test_a_bomb_is_refused_before_it_is_unpacked(garden: Garden, folder: Path) -> None:
    with gzip.open(folder / "bomb.gz", "wb") as bomb:
        header = _header("events.jsonl", size=1 << 31)
        bomb.write(header.tobuf(tarfile.USTAR_FORMAT) + bytes(1 << 20))
    assert "larger than an archive of this size" in _is_refused(garden, folder / "bomb.gz")


def test_a_damaged_file_is_no_archive(garden: Garden, members: Members, folder: Path) -> None:
    right = _pack(folder / "a.tar.gz", members, anew=True).read_bytes()
    assert check_archive(folder / "a.tar.gz").faults == []
    for wrong in (b"", b"words", right[:-20], right[: len(right) // 2], right + gzip.compress(b"more")):
        (folder / "wrong").write_bytes(wrong)
        _is_refused(garden, folder / "wrong")
    members["README.txt"] += b"more"
    assert "size or checksum" in _is_refused(garden, _pack(folder / "b", members, anew=False))
