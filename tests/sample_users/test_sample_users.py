"""The sample gardens are what they show: whole, well-formed, and with nothing for lint to say."""

import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from garden.files.paths import Entity, GardenPath
from garden.grammar.change_log import change_logs
from garden.grammar.document import Document, Section
from garden.grammar.kinds.catalogue import load_kinds
from garden.grammar.parser import parse
from garden.lint.linter import lint

REPOSITORY = Path(__file__).parents[2]
SAMPLES = REPOSITORY / "sample_users"
FILES = sorted(SAMPLES.glob("*/**/*.md"))
USERS = ["leander-moss", "tilda-quill"]
KINDS = load_kinds()


def named(file: Path) -> str:
    return file.relative_to(SAMPLES).as_posix()


def text_of(file: Path) -> str:
    # Not read_text, which would make every line end a newline.
    return file.read_bytes().decode("utf-8")


def path_of(file: Path) -> GardenPath:
    return GardenPath(f"users/{named(file)}")


def document_of(name: str) -> Document:
    return parse(text_of(SAMPLES / name))


def section(document: Document, name: str) -> Section:
    (found,) = [section for section in document.sections if section.name == name]
    return found


def is_beyond_latin(character: str) -> bool:
    return character.isalpha() and not unicodedata.name(character).startswith("LATIN")


every_document = pytest.mark.parametrize("file", FILES, ids=named)


def test_there_are_two_users_and_nothing_but_their_gardens() -> None:
    assert sorted(folder.name for folder in SAMPLES.iterdir() if folder.is_dir()) == USERS
    files = [file for folder in USERS for file in (SAMPLES / folder).glob("**/*") if file.is_file()]
    assert sorted(files) == FILES


@pytest.mark.parametrize("user", USERS)
def test_a_user_has_three_parts_and_two_relationships_each_with_both_files(user: str) -> None:
    paths = {path_of(file) for file in FILES if path_of(file).user_id == user}
    expected = {GardenPath.document_of(user, name) for name in ("overview", "notes")}
    for entity, count in ((Entity.PART, 3), (Entity.RELATIONSHIP, 2)):
        ids = {path.entity_id for path in paths if path.entity is entity}
        assert len(ids) == count
        expected |= {
            GardenPath.document_of(user, name, entity=entity, entity_id=entity_id)
            for entity_id in ids
            for name in ("profile", "notes")
        }
    assert paths == expected


@every_document
def test_a_sample_document_is_where_it_belongs_and_has_nothing_to_mend(file: Path) -> None:
    path = path_of(file)
    assert path.kind is not None
    identity = {"user_id": path.user_id, "id": path.entity_id or path.user_id}
    document = parse(text_of(file))
    assert {key: document.values.get(key) for key in identity} == identity
    report = lint(document, KINDS[path.kind], identity=identity)
    assert [str(finding) for finding in report.findings] == []


@every_document
def test_every_section_of_a_sample_document_says_something(file: Path) -> None:
    assert [section.name for section in parse(text_of(file)).sections if not section.body.strip()] == []


@pytest.mark.parametrize("user", USERS)
def test_the_participants_of_a_relationship_are_parts_of_its_user(user: str) -> None:
    parts = {folder.name for folder in (SAMPLES / user / "parts").iterdir()}
    for profile in (SAMPLES / user / "relationships").glob("*/profile.md"):
        participants = parse(text_of(profile)).values["participants"]
        assert isinstance(participants, tuple)
        assert len(participants) == 2
        assert parts.issuperset(participants)


@pytest.mark.parametrize("user", USERS)
def test_one_part_at_least_is_told_at_length(user: str) -> None:
    sizes = [profile.stat().st_size for profile in (SAMPLES / user / "parts").glob("*/profile.md")]
    assert max(sizes) >= 5 * 1024


@every_document
def test_a_change_log_is_in_the_order_of_time_and_its_events_are_of_their_minute(file: Path) -> None:
    document = parse(text_of(file))
    kind = KINDS[path_of(file).kind or ""]
    lines = [item.text for log in change_logs(document, kind) for item in log.items]
    times = [line.partition(" · ")[0] for line in lines]
    assert times == sorted(times)
    for line in lines:
        event = UUID(line.rpartition("(evt:")[2].rstrip(")"))
        assert event.version == 7
        made = datetime.fromtimestamp((event.int >> 80) / 1000, UTC)
        assert line.startswith(f"{made:%Y-%m-%d %H:%MZ} · ")
        assert line.split(" · ")[1] in {section.name for section in document.sections}


def test_the_evidence_of_the_inspector_is_exactly_at_its_cap() -> None:
    (declared,) = [section for section in KINDS["part_profile"].sections if section.role == "evidence"]
    evidence = section(document_of("tilda-quill/parts/the-inspector/profile.md"), "evidence v1")
    assert declared.cap_items == 7
    assert len(evidence.items) == declared.cap_items


def test_exactly_one_document_has_crlf_line_ends_and_has_them_throughout() -> None:
    with_returns = [file for file in FILES if b"\r" in file.read_bytes()]
    assert [named(file) for file in with_returns] == ["leander-moss/notes.md"]
    content = with_returns[0].read_bytes()
    assert content.count(b"\r") == content.count(b"\n") == content.count(b"\r\n")


def test_git_leaves_the_line_ends_of_the_samples_alone() -> None:
    rules = (REPOSITORY / ".gitattributes").read_text("utf-8").splitlines()
    assert "sample_users/** -text" in rules


def test_one_document_is_written_in_greek_too_and_all_are_in_their_composed_form() -> None:
    texts = {named(file): text_of(file) for file in FILES}
    beyond = [name for name, text in texts.items() if any(map(is_beyond_latin, text))]
    assert beyond == ["leander-moss/relationships/regulator-and-flour-boy/notes.md"]
    assert [name for name, text in texts.items() if not unicodedata.is_normalized("NFC", text)] == []
