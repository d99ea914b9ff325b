import os
import pickle
import re
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from garden.files.declared_paths import DeclaredPaths
from garden.files.paths import (
    LENGTH_MAX_CHARACTERS,
    Entity,
    GardenPath,
    PathNotAllowedError,
    Place,
    is_id,
    parse_path,
)
from garden.grammar.kinds.catalogue import load_kinds
from tests.files.traversal_corpus import ADA, ATTACKS, OTHER_USERS, Attack

EVENT = UUID("0193a1b2-0000-7000-8000-000000000000")
COPY = f"2026-11-18T082512.123456Z-{EVENT}.md"
LONGEST = "a" * 64

ALLOWED = {
    "users/ada/overview.md": (Place.DOCUMENT, Entity.USER, None, "overview", "overview"),
    "users/ada/notes.md": (Place.DOCUMENT, Entity.USER, None, "notes", "notes"),
    "users/ada/parts/critic/profile.md": (
        Place.DOCUMENT,
        Entity.PART,
        "critic",
        "profile",
        "part_profile",
    ),
    "users/ada/parts/critic/notes.md": (Place.DOCUMENT, Entity.PART, "critic", "notes", "notes"),
    "users/ada/relationships/0_-/profile.md": (
        Place.DOCUMENT,
        Entity.RELATIONSHIP,
        "0_-",
        "profile",
        "relationship_profile",
    ),
    f"users/ada/relationships/{LONGEST}/notes.md": (
        Place.DOCUMENT,
        Entity.RELATIONSHIP,
        LONGEST,
        "notes",
        "notes",
    ),
    "users/ada": (Place.FOLDER, Entity.USER, None, None, None),
    "users/ada/parts": (Place.FOLDER, Entity.PART, None, None, None),
    "users/ada/parts/critic": (Place.FOLDER, Entity.PART, "critic", None, None),
    "users/ada/relationships": (Place.FOLDER, Entity.RELATIONSHIP, None, None, None),
    "users/ada/relationships/ben": (Place.FOLDER, Entity.RELATIONSHIP, "ben", None, None),
    "history/ada": (Place.HISTORY_FOLDER, Entity.USER, None, None, None),
    "history/ada/overview": (Place.HISTORY_FOLDER, Entity.USER, None, "overview", "overview"),
    "history/ada/parts": (Place.HISTORY_FOLDER, Entity.PART, None, None, None),
    "history/ada/parts/critic": (Place.HISTORY_FOLDER, Entity.PART, "critic", None, None),
    "history/ada/parts/critic/profile": (
        Place.HISTORY_FOLDER,
        Entity.PART,
        "critic",
        "profile",
        "part_profile",
    ),
    f"history/ada/notes/{COPY}": (Place.HISTORY_COPY, Entity.USER, None, "notes", "notes"),
    "users/ada/memories": (Place.FOLDER, Entity.USER, None, None, None),
    "users/ada/memories/a/notes": (Place.FOLDER, Entity.USER, None, None, None),
    "users/ada/memories/notes.md": (Place.DOCUMENT, Entity.USER, None, "notes", "memories"),
    "users/ada/memories/parts/b/c-1.md": (Place.DOCUMENT, Entity.USER, None, "c-1", "memories"),
    "history/ada/memories/a": (Place.HISTORY_FOLDER, Entity.USER, None, None, None),
    "history/ada/memories/a.md": (Place.HISTORY_FOLDER, Entity.USER, None, "a", "memories"),
    f"history/ada/memories/a/b/c.md/{COPY}": (Place.HISTORY_COPY, Entity.USER, None, "c", "memories"),
    f"history/ada/relationships/ben/profile/{COPY}": (
        Place.HISTORY_COPY,
        Entity.RELATIONSHIP,
        "ben",
        "profile",
        "relationship_profile",
    ),
}
BUILT_IN = DeclaredPaths(load_kinds().values)
DOCUMENTS = [text for text, (place, *_) in ALLOWED.items() if place is Place.DOCUMENT]

# The documented forms, written independently of the code.
ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
RESERVED = ("parts", "relationships", "overview", "notes")
ids = st.builds("{}{}".format, st.sampled_from(ALPHABET), st.text(ALPHABET + "-_", max_size=63))
groups = st.sampled_from(["parts", "relationships"])
folders = st.one_of(
    ids, st.builds("{}/{}".format, ids, groups), st.builds("{}/{}/{}".format, ids, groups, ids)
)
stems = st.one_of(
    st.builds("{}/{}".format, ids, st.sampled_from(["overview", "notes"])),
    st.builds("{}/{}/{}/{}".format, ids, groups, ids, st.sampled_from(["profile", "notes"])),
)
EXAMPLES = 10_000 if os.environ.get("GARDEN_HYPOTHESIS") == "nightly" else 300
# No test is timed.
any_time = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
free = st.builds("{}/{}/{}".format, ids, st.from_regex("[a-z][a-z0-9_]{0,9}", fullmatch=True), ids).filter(
    lambda below: below.split("/")[1] not in RESERVED
)
free_stems = st.one_of(free, st.builds("{}/{}".format, free, ids), st.builds("{}/{}".format, free, ids))
legal = st.one_of(
    free.map("users/{}".format),
    free_stems.map("users/{}.md".format),
    free_stems.map("history/{}.md".format),
    free_stems.map(lambda stem: f"history/{stem}.md/{COPY}"),
    folders.map("users/{}".format),
    stems.map("users/{}.md".format),
    folders.map("history/{}".format),
    stems.map("history/{}".format),
    stems.map(lambda stem: f"history/{stem}/{COPY}"),
)
bits = [
    "users",
    "history",
    "ada",
    "/",
    "..",
    ".",
    "parts",
    "critic",
    "profile",
    "notes",
    ".md",
    "overview",
    COPY,
]
nasty = [
    "\n",
    "\0",
    "\\",
    "%2e",
    " ",
    "~",
    "A",
    "\u0661",
    "\uff0e",
    "\u2215",
    "a\u0308",
    "\ud800",
    ":",
    "-",
    "_",
]
near_legal = st.lists(st.sampled_from(bits + nasty), max_size=12).map("".join)


def refused(text: str, owner: str | None = None) -> PathNotAllowedError:
    with pytest.raises(PathNotAllowedError) as caught:
        BUILT_IN.check(parse_path(text, owner=owner))
    return caught.value


@pytest.mark.parametrize("text", ALLOWED)
def test_an_allowed_path_says_what_it_stands_for(text: str) -> None:
    path = parse_path(text, owner="ada")
    found = (path.place, path.entity, path.entity_id, path.document_name, path.kind)
    assert found == ALLOWED[text]
    assert path.user_id == "ada"
    assert str(path) == text
    assert path.name == text.split("/")[-1]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_every_attack_of_the_corpus_is_refused(attack: Attack) -> None:
    for owner in (None, ADA):
        error = refused(attack.path, owner)
        assert error.code == "path_not_allowed"
        assert "/memories/{name}.md" in error.hint


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_a_refusal_repeats_nothing_of_the_path(attack: Attack) -> None:
    error = refused(attack.path)
    assert error.message.isascii()
    assert error.message.isprintable()
    assert len(attack.path) < 4 or attack.path not in error.message
    assert "etc" not in error.message
    assert error.details == {}


@pytest.mark.parametrize("attack", OTHER_USERS, ids=lambda attack: attack.name)
def test_another_users_path_is_refused_to_an_agent_and_right_for_nobody_in_particular(attack: Attack) -> None:
    error = refused(attack.path, owner=ADA)
    assert error.message == "This path is not allowed: it belongs to another user's garden."
    assert parse_path(attack.path, owner=None).user_id != ADA


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("/etc/passwd", "absolute"),
        ("users//notes.md", "empty component"),
        ("users/../notes.md", "'..'"),
        ("users\\ada", "backslash"),
        ("users/ada%2f", "'%'"),
        ("users/ada/notes.md\n", "control character"),
        ("users/ada/Notes.md", "capital"),
        ("users/ad\u00e4/notes.md", "beyond a-z"),
        ("etc/passwd", "begin with users/"),
        ("users/ada/diary.md", "has such a name"),
        ("users/ada/memories/a/b/c/d.md", "four levels"),
        ("users/ada/memories/tea.txt", "end in .md"),
        ("users/" + "a" * 300, f"{LENGTH_MAX_CHARACTERS} characters"),
    ],
)
def test_a_refusal_says_what_is_wrong(text: str, reason: str) -> None:
    assert reason in refused(text).message


def test_a_path_cannot_be_made_past_the_check() -> None:
    path = GardenPath("users/ada/notes.md")
    with pytest.raises(PathNotAllowedError):
        replace(path, text="users/../notes.md")
    with pytest.raises(FrozenInstanceError):
        path.text = "users/../notes.md"  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(path)) == path  # noqa: S301
    assert {path: 1}[GardenPath("users/ada/notes.md")] == 1


def test_the_longest_allowed_path_is_within_the_limit() -> None:
    path = GardenPath(f"history/{LONGEST}/relationships/{LONGEST}/profile/{COPY}")
    assert len(str(path)) <= LENGTH_MAX_CHARACTERS


def test_the_longest_free_document_has_room_for_its_copies() -> None:
    name = "a" * (LENGTH_MAX_CHARACTERS - len(f"users/{LONGEST}/{LONGEST}/{LONGEST}/.md"))
    path = GardenPath(f"users/{LONGEST}/{LONGEST}/{LONGEST}/{name}.md")
    assert path.copy_of(datetime.max.replace(tzinfo=UTC), EVENT).document == path
    with pytest.raises(PathNotAllowedError, match="longer than 255 characters"):
        GardenPath(path.text.replace(name, f"{name}a"))


@pytest.mark.parametrize("text", DOCUMENTS)
def test_a_documents_history_is_a_folder_of_copies_and_leads_back(text: str) -> None:
    path = GardenPath(text)
    assert path.history.place is Place.HISTORY_FOLDER
    assert str(path.history) == text.replace("users", "history", 1).removesuffix("" if path.free else ".md")
    copy = path.copy_of(datetime(2026, 11, 18, 8, 25, 12, 123456, UTC), EVENT)
    assert copy.place is Place.HISTORY_COPY
    assert copy.text == f"{path.history}/{COPY}"
    assert copy.document == path.history.document == path.document == path
    assert copy.kind == path.kind


def test_copies_sort_by_time_whatever_the_time_zone() -> None:
    path = GardenPath("users/ada/notes.md")
    early = path.copy_of(datetime(2026, 1, 1, 23, 59, 59, 999999, UTC), EVENT)
    late = path.copy_of(datetime(2026, 1, 2, 1, 0, 0, 0, timezone(timedelta(hours=1))), EVENT)
    assert early.text < late.text
    assert late.name.startswith("2026-01-02T000000.000000Z")


@pytest.mark.parametrize("text", ["users/ada", "history/ada/notes", f"history/ada/notes/{COPY}"])
def test_only_a_document_has_a_history(text: str) -> None:
    with pytest.raises(PathNotAllowedError):
        _ = GardenPath(text).history


def test_a_folder_of_no_one_document_leads_to_none() -> None:
    with pytest.raises(PathNotAllowedError):
        _ = GardenPath("users/ada/parts").document


def test_history_is_not_writable_and_the_garden_is() -> None:
    for text, (place, *_) in ALLOWED.items():
        path = GardenPath(text)
        assert path.is_writable is text.startswith("users/")
        assert path.is_folder is (place in {Place.FOLDER, Place.HISTORY_FOLDER})


def test_a_document_is_found_by_whom_it_is_about() -> None:
    of = GardenPath.document_of
    assert of("ada", "overview").text == "users/ada/overview.md"
    assert of("ada", "notes", entity=Entity.PART, entity_id="x").text == "users/ada/parts/x/notes.md"
    assert (
        of("ada", "profile", entity=Entity.RELATIONSHIP, entity_id="x").text
        == "users/ada/relationships/x/profile.md"
    )


@pytest.mark.parametrize(
    ("user_id", "name", "entity", "entity_id"),
    [
        ("../ben", "notes", Entity.USER, None),
        ("ada", "../ben/notes", Entity.USER, None),
        ("ada", "profile", Entity.PART, "../../ben"),
        ("ada", "notes", Entity.PART, None),
        ("ada", "notes", Entity.PART, ""),
        ("ada", "profile", Entity.PART, "x/../y"),
    ],
)
def test_traversal_within_an_id_is_refused(
    user_id: str, name: str, entity: Entity, entity_id: str | None
) -> None:
    with pytest.raises(PathNotAllowedError):
        GardenPath.document_of(user_id, name, entity=entity, entity_id=entity_id)


@pytest.mark.parametrize("text", ["a", "0", "a-b_c", "parts", LONGEST])
def test_an_id_is_known(text: str) -> None:
    assert is_id(text)


@pytest.mark.parametrize(
    "text", ["", "-a", "_", "A", "a\n", "a/b", "a.b", "\u0661", "a\u0661", LONGEST + "a"]
)
def test_what_is_no_id_is_told_apart(text: str) -> None:
    assert not is_id(text)


@any_time
@given(legal)
def test_every_documented_form_is_a_path_that_renders_to_itself(text: str) -> None:
    assert str(GardenPath(text)) == text


@settings(any_time, max_examples=EXAMPLES)
@given(st.one_of(st.text(), st.text(st.characters(exclude_categories=()), max_size=300), near_legal))
def test_any_other_text_is_refused_and_nothing_else_is_raised(text: str) -> None:
    try:
        path = GardenPath(text)
    except PathNotAllowedError:
        assert not documented(text)
    else:
        assert str(path) == text
        assert documented(text)


@settings(any_time, max_examples=EXAMPLES)
@given(legal, st.data())
def test_a_path_with_one_character_changed_is_a_documented_form_or_refused(
    text: str, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(text)))
    character = data.draw(st.one_of(st.characters(exclude_categories=()), st.sampled_from(nasty)))
    changed = text[:place] + character + text[place + data.draw(st.integers(0, 1)) :]
    try:
        GardenPath(changed)
    except PathNotAllowedError:
        assert not documented(changed)
    else:
        assert documented(changed)


def documented(text: str) -> bool:
    """Whether a text has one of the documented forms, checked component by component."""
    root, *components = text.split("/")
    if root not in {"users", "history"} or not all(map(known, components)):
        return False
    if (
        components[1:]
        and re.fullmatch("[a-z][a-z0-9_]{0,63}", components[1])
        and components[1] not in RESERVED
    ):
        return len(text) <= LENGTH_MAX_CHARACTERS and free_documented(root, components)
    shape = [component_shape(component, index) for index, component in enumerate(components)]
    return tuple(shape) in (USERS_SHAPES if root == "users" else HISTORY_SHAPES)


def free_documented(root: str, components: list[str]) -> bool:
    if root == "history" and re.fullmatch(COPY_SHAPE, components[-1]):
        return components[-2].endswith(".md") and free_documented(root, components[:-1])
    user, _, *names = components
    name = names.pop() if names and names[-1].endswith(".md") else ""
    folders_max = 2 if name or len(names) <= 2 else 0
    stems = [user, *names, name.removesuffix(".md") or user]
    return (
        len(names) <= folders_max
        and all(0 < len(each) <= 64 and each[0] in ALPHABET and not set(each) & set(".TZ") for each in stems)
        and name != ".md"
    )


USERS_SHAPES = {
    ("id",), ("id", "own.md"), ("id", "group"), ("id", "group", "id"), ("id", "group", "id", "entity.md"),
}  # fmt: skip
HISTORY_SHAPES = {
    ("id",), ("id", "own"), ("id", "own", "copy"), ("id", "group"), ("id", "group", "id"),
    ("id", "group", "id", "entity"), ("id", "group", "id", "entity", "copy"),
}  # fmt: skip


def known(component: str) -> bool:
    return component != "" and all(character in ALPHABET + "-_.TZ" for character in component)


COPY_SHAPE = (
    "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{6}[.][0-9]{6}Z-"
    "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}[.]md"
)


def component_shape(component: str, index: int) -> str:
    stem = component.removesuffix(".md")
    suffix = ".md" if stem != component else ""
    if index in {2, 4} and re.fullmatch(COPY_SHAPE, component):
        return "copy"
    if index == 1 and component in {"parts", "relationships"}:
        return "group"
    if index == 1 and stem in {"overview", "notes"}:
        return "own" + suffix
    if index == 3 and stem in {"profile", "notes"}:
        return "entity" + suffix
    identifier = len(component) <= 64 and component[0] in ALPHABET and not set(component) & set(".TZ")
    return "id" if identifier and index in {0, 2} else "other"
