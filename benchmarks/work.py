"""The work that all contestants do: replace one section of a profile, and read the profile back."""

import secrets
from dataclasses import dataclass

from benchmarks.profiles import EVIDENCE, HEAD, NARRATIVE

# The kind of part profiles with four more sections, as an operator declares them in a home's `kinds`.
MORE_SECTIONS = ("Allies", "Early Memories", "Body", "Roles")
_SECTIONS = (
    *("Concerns", "Needs", "Strengths", "What Helps", "Evidence", "Open Questions"),
    *MORE_SECTIONS,
)
_ANCHORS = {"Open Questions": "questions"}
_LOG = "".join(
    f"- 2026-11-{day:02} 08:25Z · concerns v1 · replace_section · "
    f"she named it herself after a long week (evt:0193a1{day:02})\n"
    for day in range(1, 21)
)
_LIST = """- Says yes to work before it has looked at the week, and then can't sleep ({heading})
- Reads silence as criticism of its {heading}
  - above all from people it admires, and from those it works for
- Plans the free day so full that it is not a free day
"""


@dataclass(frozen=True)
class Edit:
    """Replace the words of one section."""

    document: str
    heading: str
    old: str
    new: str

    @property
    def anchor(self) -> str:
        return anchor(self.heading)


def anchor(heading: str) -> str:
    return _ANCHORS.get(heading, heading.lower().replace(" ", "_")) + " v1"


def kind_with_more_sections() -> str:
    sections = (
        f'[[sections]]\nheading = "{heading}"\nanchor = "{anchor(heading)}"\nshape = "list"\n'
        for heading in MORE_SECTIONS
    )
    return 'extends = "part_profile"\nkind = "part_profile"\n\n' + "\n".join(sections)


def profile(part: str, user: str) -> str:
    """Write a profile of 6 KB with twelve sections, one of them a Change Log of twenty lines."""
    head = HEAD.replace("anxious-achiever", part).replace("sample-user", user)
    lists = (_section(heading, _words_at_first(heading)) for heading in _SECTIONS)
    return "\n".join(
        [head.rstrip() + "\n", _section("Summary", NARRATIVE * 2), *lists, _section("Change Log", _LOG)]
    )


def notes(part: str, user: str, sections: int) -> str:
    """Write the notes of a part, with so many sections of their own."""
    head = f"---\nid: {part}\nuser_id: {user}\nschema: 1\n---\n\n# Notes\n"
    declared = (_section("Summaries", "- a quiet week\n"), _section("Inbox", "- slept well\n"))
    own = (_section(f"Theme {number}", _words_at_first(f"Theme {number}")) for number in range(sections))
    return "\n".join([head, declared[0], *own, declared[1]])


def first_edit(document: str, heading: str) -> Edit:
    return Edit(document, heading, _words_at_first(heading), _fresh_words())


def next_edit(edit: Edit) -> Edit:
    return Edit(edit.document, edit.heading, edit.new, _fresh_words())


def _fresh_words() -> str:
    return f"- Says yes before looking at the week\n- Can't sleep then, {secrets.token_hex(8)}\n"


def _words_at_first(heading: str) -> str:
    return EVIDENCE.rstrip() + "\n" if heading == "Evidence" else _LIST.format(heading=heading)


def _section(heading: str, body: str) -> str:
    return f"## {heading}\n<!-- @anchor: {anchor(heading)} -->\n\n{body.rstrip()}\n"
