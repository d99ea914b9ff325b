"""Exports that are damaged, too large or made to harm: refused before anything is written."""

import os
import struct
import subprocess
import zipfile
from pathlib import Path

import pytest

from garden.files.errors import ForeignFileError
from garden.grammar.errors import GardenError
from garden.transfer.formats import source
from garden.transfer.formats.chatgpt import read_chatgpt
from garden.transfer.formats.letta import read_letta
from garden.transfer.formats.notes import read_obsidian
from garden.transfer.formats.source import ForeignExportError
from tests.support.foreign import chatgpt_chat, put_json, put_notes, put_zip


def _refusal(file: Path, name: str = "conversations.json") -> str:
    with pytest.raises(GardenError) as refused:
        list((read_chatgpt if name.endswith(".json") else read_obsidian)(file))
    assert refused.value.hint
    return refused.value.message


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b"\xff[]",
        b"{",
        b"",
        '["x"]'.encode("utf-16"),
        b"[" + b"1" * 9999 + b"]",
    ],
    ids=["open", "deep", "bytes", "cut", "empty", "utf16", "digits"],
)
def test_json_that_is_broken_is_refused(folder: Path, content: bytes) -> None:
    (folder / "conversations.json").write_bytes(content)
    assert "no JSON in UTF-8, or too deeply nested" in _refusal(folder / "conversations.json")


def test_json_over_the_limit_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "JSON_MAX_BYTES", 10)
    (folder / "conversations.json").write_bytes(b"[]" + b" " * 9)
    assert "larger than" in _refusal(folder / "conversations.json")
    (folder / "conversations.json").write_bytes(b"[]" + b" " * 8)
    assert list(read_chatgpt(folder)) == []


def test_a_zip_bomb_is_refused_unread(folder: Path) -> None:
    bomb = put_zip(folder / "bomb.zip", {"a.md": bytes(source.UNPACKED_MAX_BYTES + 1)})
    assert bomb.stat().st_size < 1024 * 1024
    assert "more than 100 times its size" in _refusal(bomb, "a.md")


def test_a_zip_whose_sizes_lie_is_refused(folder: Path) -> None:
    honest = put_zip(folder / "a.zip", {"conversations.json": "[" + " " * 5000 + "]"}).read_bytes()
    lies = honest.replace(struct.pack("<L", 5002), struct.pack("<L", 2))
    (folder / "a.zip").write_bytes(lies)
    _refusal(folder / "a.zip")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_zip_with_two_files_of_one_name_is_refused(folder: Path) -> None:
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.writestr("a.md", "one")
        archive.writestr("a.md", "two")
    assert "two files of one name" in _refusal(folder / "a.zip", "a.md")


def test_an_encrypted_zip_and_one_packed_oddly_are_refused(folder: Path) -> None:
    plain = put_zip(folder / "a.zip", {"a.md": "words"}).read_bytes()
    at = plain.index(b"PK\x01\x02") + 8
    (folder / "a.zip").write_bytes(plain[:at] + b"\x01" + plain[at + 1 :])
    assert "encrypted" in _refusal(folder / "a.zip", "a.md")
    with zipfile.ZipFile(folder / "b.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.md", "words")
    assert "not supported" in _refusal(folder / "b.zip", "a.md")


def test_a_zip_that_is_damaged_is_refused(folder: Path) -> None:
    whole = put_zip(folder / "a.zip", {"conversations.json": "[" + " " * 5000 + "]"}).read_bytes()
    (folder / "a.zip").write_bytes(whole[:40] + b"\0\0\0" + whole[43:])
    assert "damaged" in _refusal(folder / "a.zip")
    (folder / "b.zip").write_bytes(whole[:-30])
    _refusal(folder / "b.zip")


def test_too_many_files_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "FILES_MAX", 2)
    vault = put_notes(folder / "vault", {"a.md": b"a", "b.md": b"b"})
    assert len(list(read_obsidian(vault))) == 2
    put_notes(vault, {"c.md": b"c"})
    assert "more than 2 files" in _refusal(vault, "a.md")


def test_links_and_pipes_in_a_vault_are_not_followed(folder: Path) -> None:
    (folder / "secret.md").write_text("secret")
    vault = put_notes(folder / "vault", {"a.md": b"a"})
    (vault / "link.md").symlink_to(folder / "secret.md")
    (vault / "folder.md").symlink_to(folder)
    os.mkfifo(vault / "pipe.md")
    found = {entry.id: entry for entry in read_obsidian(vault)}
    assert {key for key, entry in found.items() if isinstance(entry.refusal, ForeignFileError)} == {
        "vault/link.md",
        "vault/folder.md",
        "vault/pipe.md",
    }
    assert "secret" not in str(found)


def test_a_missing_file_is_named(folder: Path) -> None:
    assert "There is no file or folder" in _refusal(folder / "nowhere.zip")
    with pytest.raises(ForeignExportError, match="no Markdown"):
        list(read_obsidian(folder))


def _put_damaged(path: Path, old: bytes, new: bytes, count: int) -> Path:
    whole = put_zip(path, {"vault/\u00e9.md": "x"}).read_bytes()
    assert whole.count(old) == 2
    path.write_bytes(new.join(whole.split(old, count)) if count > 0 else new.join(whole.rsplit(old, 1)))
    return path


@pytest.mark.parametrize("count", [1, 0], ids=["header", "directory"])
def test_a_zip_with_a_name_that_is_no_text_is_refused(folder: Path, count: int) -> None:
    file = _put_damaged(folder / "a.zip", "\u00e9".encode(), b"\xff\xff", count)
    assert "damaged or cut off" in _refusal(file, "a.md")


def test_a_zip_that_points_before_its_beginning_is_refused(folder: Path) -> None:
    whole = put_zip(folder / "a.zip", {"a.md": "x"}).read_bytes()
    end = whole.rindex(b"PK\x05\x06")
    start = struct.unpack_from("<L", whole, end + 16)[0]
    # The library takes a greater offset for bytes that were put in front, and may move before the file.
    lies = whole[: end + 16] + struct.pack("<L", start + 20) + whole[end + 20 :]
    (folder / "a.zip").write_bytes(lies)
    assert "damaged or cut off" in _refusal(folder / "a.zip", "a.md")


def test_a_field_that_is_no_text_is_passed_over(folder: Path) -> None:
    chat = chatgpt_chat()
    chat["mapping"]["b"]["message"]["content"]["content_type"] = []
    [*_, said] = [each.text for each in read_chatgpt(put_json(folder / "conversations.json", [chat]))][:2]
    assert "Which ferry" not in said


def test_a_block_with_a_deep_description_keeps_its_value(folder: Path) -> None:
    deep: list[object] = []
    for _ in range(600):
        deep = [deep]
    block = {"label": "human", "value": "Likes tea.", "description": deep}
    [entry] = read_letta(put_json(folder / "a.af", {"blocks": [block]}))
    assert entry.text == "---\nlabel: human\n---\n\nLikes tea."


def test_folders_may_be_deep(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("a", dir_fd=handle)
        below = os.open("a", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    with os.fdopen(os.open("a.md", os.O_WRONLY | os.O_CREAT, dir_fd=handle), "w") as note:
        note.write("Tea.")
    os.close(handle)
    try:
        assert [each.text for each in read_obsidian(folder)] == ["Tea."]
    finally:
        # Python's own way would go as deep.
        subprocess.run(["rm", "-rf", folder / "a"], check=True)


def test_a_pipe_or_a_device_in_place_of_an_export_is_refused_unread(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    for file in (folder / "pipe", Path(os.devnull)):
        assert "not a regular file" in _refusal(file)
