import pytest

from garden.grammar.apply import apply
from garden.grammar.edits import CreateDocument
from garden.grammar.kinds.catalogue import load_kinds
from garden.grammar.kinds.declaration import KindError, is_free
from garden.grammar.parser import parse
from garden.grammar.refusals import AlreadyExistsError, InvalidInputError
from garden.grammar.values import Anchor

IDENTITY = {"id": "aa", "user_id": "u1", "participants": ["a", "b"]}

# Copied by hand from the design: heading, anchor, shape and cap of every section.
TABLE = {
    "part_profile": (
        "Summary summary narrative | Concerns concerns list | Needs needs list | Strengths strengths list | "
        "What Helps what_helps list | Evidence evidence list 7 | Open Questions questions list | "
        "Change Log change_log log"
    ),
    "relationship_profile": (
        "Summary summary narrative | Dynamics dynamics narrative | Concerns concerns list | "
        "Repair repair list | "
        "Evidence evidence list 7 | Open Questions questions list | Change Log change_log log"
    ),
    "overview": (
        "Summary summary narrative | Facts facts list | Preferences preferences list | "
        "Life Goals life_goals list | Projects projects list | Open Loops open_loops list | "
        "Relationships relationships list | "
        "Health health list | Work work list | Personal Context personal_context list | "
        "Change Log change_log log"
    ),
    "notes": "Summaries summaries log | Inbox inbox log",
}


@pytest.mark.parametrize("name", TABLE)
def test_the_built_in_kinds_match_the_design(name: str) -> None:
    described = [
        " ".join(
            [
                section.heading,
                section.anchor.id,
                section.shape,
                *([str(section.cap_items)] if section.cap_items else []),
            ]
        )
        for section in load_kinds()[name].sections
    ]
    assert " | ".join(described) == TABLE[name]
    assert {section.anchor.version for section in load_kinds()[name].sections} == {1}


def test_only_notes_take_appended_entries_and_in_their_last_section() -> None:
    assert load_kinds()["notes"].entries_anchor == load_kinds()["notes"].sections[-1].anchor
    assert not any(kind.entries_anchor for name, kind in load_kinds().items() if name != "notes")


def test_there_are_no_other_built_in_kinds() -> None:
    assert set(load_kinds()) == {*TABLE, "memories"}
    assert [name for name, kind in load_kinds().items() if is_free(kind)] == ["memories"]


def test_narratives_have_a_note_and_a_cap_and_only_change_logs_have_that_role() -> None:
    for kind in load_kinds().values():
        for section in kind.sections:
            narrative = section.shape == "narrative"
            assert (section.note_words, section.cap_words) == ((200, 400) if narrative else (None, None))
            assert section.is_change_log == (section.anchor.id == "change_log")


@pytest.mark.parametrize("name", TABLE)
def test_a_new_document_has_its_title_its_identity_and_every_section_empty(name: str) -> None:
    kind = load_kinds()[name]
    document = apply(None, CreateDocument(kind, "Ängstlich 🙂", IDENTITY)).after
    assert document.title == "Ängstlich 🙂"
    assert document.values["id"] == "aa"
    assert document.values["schema"] == 1
    assert document.values["participants"] == ("a", "b")
    assert [(section.heading.text, section.anchor) for section in document.sections] == [
        (section.heading, section.anchor) for section in kind.sections
    ]
    assert not any(section.body.strip() for section in document.sections)
    assert not document.problems
    assert document.text.endswith("-->\n")


def test_an_empty_title_becomes_that_of_the_kind() -> None:
    assert apply(None, CreateDocument(load_kinds()["overview"], " ", IDENTITY)).after.title == "Overview"


@pytest.mark.parametrize("title", ["a\nb", "a #", "a\n## b", "a\r\n\r\n# b"])
def test_a_title_that_would_read_back_differently_is_refused(title: str) -> None:
    with pytest.raises(InvalidInputError):
        apply(None, CreateDocument(load_kinds()["notes"], title, IDENTITY))


@pytest.mark.parametrize("value", ["yes", "1", "a: b", "# x", "---", "'", "", "a\nb", "&a", "2026-01-01"])
def test_identity_values_read_back_as_they_were_given(value: str) -> None:
    document = apply(None, CreateDocument(load_kinds()["notes"], "N", {"id": value, "user_id": "u"})).after
    assert document.values["id"] == value


def test_missing_identity_keys_are_named() -> None:
    with pytest.raises(InvalidInputError) as caught:
        apply(None, CreateDocument(load_kinds()["relationship_profile"], "N", {"id": "a"}))
    assert caught.value.details == {"missing": ["user_id", "participants"]}


def test_a_document_is_never_created_over_another() -> None:
    with pytest.raises(AlreadyExistsError):
        apply(parse(""), CreateDocument(load_kinds()["notes"], "N", IDENTITY))


OWN = """kind = "pet"
summary = "A pet."
title = "Pet"
schema = 2
identity = ["id", "user_id", "schema"]

[[sections]]
heading = "Habits"
anchor = "habits v3"
shape = "list"
cap_items = 5
"""


def test_an_operator_adds_a_kind() -> None:
    kind = load_kinds([("pet.toml", OWN)])["pet"]
    assert (kind.schema_version, kind.sections[0].anchor) == (2, Anchor("habits", 3))
    assert "pet" not in load_kinds()


def test_an_operators_section_of_notes_is_above_the_one_for_entries_which_stays_the_only_one() -> None:
    text = 'extends = "notes"\n[[sections]]\nheading = "Dreams"\nanchor = "dreams v1"\nshape = "log"\n'
    sections = load_kinds([("notes.toml", text)])["notes"].sections
    assert [section.heading for section in sections] == ["Summaries", "Dreams", "Inbox"]
    with pytest.raises(KindError, match="one section at most takes entries"):
        load_kinds([("notes.toml", text + "entries = true\n")])


def test_an_operator_changes_a_cap_and_adds_a_section_above_the_change_log() -> None:
    text = """extends = "part_profile"

[[sections]]
anchor = "evidence v1"
cap_items = 9

[[sections]]
heading = "Dreams"
anchor = "dreams v1"
shape = "list"
"""
    kind = load_kinds([("part_profile.toml", text)])["part_profile"]
    assert [section.heading for section in kind.sections][-3:] == ["Open Questions", "Dreams", "Change Log"]
    evidence = kind.section(Anchor("evidence", 1))
    assert evidence is not None
    assert (evidence.heading, evidence.cap_items, evidence.role) == ("Evidence", 9, "evidence")


def test_an_operator_derives_a_kind_with_another_name() -> None:
    kinds = load_kinds([("journal.toml", 'extends = "notes"\nkind = "journal"\ntitle = "Journal"\n')])
    assert kinds["journal"].sections == kinds["notes"].sections
    assert kinds["notes"].title == "Notes"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (OWN.replace('"habits v3"', '"habits"'), "sections.0.anchor"),
        (OWN.replace('"habits v3"', "3"), "sections.0.anchor"),
        (OWN.replace('"list"', '"table"'), "sections.0.shape"),
        (OWN.replace("cap_items = 5", 'cap_items = "5"'), "sections.0.cap_items"),
        (OWN.replace("cap_items = 5", "cap_items = 0"), "sections.0.cap_items"),
        (OWN.replace("cap_items", "max_items"), "sections.0.max_items"),
        (OWN.replace('heading = "Habits"', 'heading = "# Habits"'), "sections.0.heading"),
        (OWN.replace("schema = 2", "schema = true"), "schema"),
        (OWN.replace('kind = "pet"', 'kind = "Pet"'), "kind"),
        (OWN.replace('kind = "pet"\n', ""), "kind"),
        (OWN.replace('["id", "user_id", "schema"]', '["name"]'), "identity.0"),
        (OWN.replace('["id", "user_id", "schema"]', "3"), "identity"),
        (OWN.replace('kind = "pet"', 'kind = "notes"'), "kind"),
        ('extends = "nothing"\n', "extends"),
        ('extends = "notes"\nsections = 3\n', "sections"),
        ('extends = "notes"\n[[sections]]\nanchor = "x v1"\n', "sections.1.heading"),
    ],
)
def test_an_invalid_declaration_is_reported_with_file_and_key(text: str, key: str) -> None:
    with pytest.raises(KindError) as caught:
        load_kinds([("own.toml", text)])
    assert caught.value.details == {"file": "own.toml", "key": key}
    assert caught.value.message.startswith(f"own.toml: {key}")


FREE = OWN[: OWN.index("[[sections]]")] + "paths = [{}]\n"


def test_an_operator_declares_free_form_documents_without_sections() -> None:
    paths = ("pet/{name}.md", "pet/cats/{date}/{a_b}.md")
    kind = load_kinds([("pet.toml", FREE.format(", ".join(f'"{each}"' for each in paths)))])["pet"]
    assert (kind.paths, kind.sections, is_free(kind)) == (paths, (), True)


@pytest.mark.parametrize(
    "path",
    [
        "", "pet.md", "pet/{name}", "pet/{name}.txt", "pets/{name}.md", "/pet/{name}.md", "pet/../{name}.md",
        "pet//{name}.md", "pet/a/b/c/d.md", "pet/{Name}.md", "pet/a b.md", "pet/{}.md", "pet/.md",
        "pet/{a}x.md", "pet/{name}.md/", "{kind}/{name}.md", "pet/\u0430.md", "pet/{name}.md\\n",
    ],
)  # fmt: skip
def test_a_path_that_could_be_mistaken_is_refused_with_its_file(path: str) -> None:
    with pytest.raises(KindError, match=r"^pet\.toml: .*paths: ") as caught:
        load_kinds([("pet.toml", FREE.format(f'"{path}"'))])
    assert caught.value.hint


def test_a_kind_with_a_place_of_its_own_declares_no_paths() -> None:
    for text in (
        'extends = "notes"\npaths = ["notes/{name}.md"]\n',
        FREE.format('"parts/{name}.md"').replace('"pet"', '"parts"'),
    ):
        with pytest.raises(KindError, match="can't declare any"):
            load_kinds([("own.toml", text)])
    with pytest.raises(KindError, match="declares sections and identity"):
        load_kinds([("own.toml", FREE.format(""))])


def test_a_declaration_with_a_duplicate_anchor_or_heading_is_refused() -> None:
    again = OWN[OWN.index("[[sections]]") :]
    with pytest.raises(KindError, match="anchor declared twice: habits v3"):
        load_kinds([("own.toml", OWN + again)])
    with pytest.raises(KindError, match="heading declared twice: habits"):
        load_kinds([("own.toml", OWN + again.replace("v3", "v4"))])


def test_a_declaration_that_is_not_toml_is_refused() -> None:
    with pytest.raises(KindError, match=r"own\.toml is not valid TOML"):
        load_kinds([("own.toml", "kind = ")])
