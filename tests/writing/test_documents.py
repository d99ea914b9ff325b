"""The documents that are remembered: the last version of each path, within a limit."""

import pytest

from garden.files.garden_files import FileText
from garden.files.paths import GardenPath
from garden.files.plain_files import FileStamp
from garden.grammar.canonical import encoded, raw_hash
from garden.writing import documents as module
from garden.writing.documents import Documents, GardenDocument

STAMP = FileStamp((1, 2), 3, written_ns=4, changed_ns=5)
PATH = GardenPath("users/u1/notes.md")
TEXT = "# T\n\n## A\n\na\n\n## B\n\nb\n"


@pytest.fixture
def documents() -> Documents:
    return Documents({})


def read(documents: Documents, text: str, path: GardenPath = PATH) -> GardenDocument:
    data = encoded(text)
    return documents.parse_file(path, FileText(text, raw_hash(data), len(data), 0o600, STAMP))


def test_a_file_with_the_same_bytes_is_parsed_once(documents: Documents) -> None:
    assert read(documents, TEXT) is read(documents, TEXT)


def test_an_outside_edit_shares_the_sections_that_it_left_alone(documents: Documents) -> None:
    before, after = read(documents, TEXT).document, read(documents, TEXT.replace("b\n", "c\n")).document
    shared = [new is old for new, old in zip(after.contents, before.contents, strict=True)]
    assert shared == [True, True, True, False]
    assert read(documents, after.text).document is after


def test_only_the_last_version_of_a_path_counts_towards_the_limit(
    documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CACHE_CHARACTERS_MAX", 3 * len(TEXT))
    other = GardenPath("users/u2/notes.md")
    first = read(documents, TEXT, other)
    for number in range(9):
        read(documents, TEXT.replace("b\n", f"{number}\n"))
    assert read(documents, TEXT, other) is first
    read(documents, TEXT * 3)
    assert read(documents, TEXT, other) is not first
