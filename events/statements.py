"""SQL in .sql files: each statement has a name there, and Python runs it by that name.

A placeholder stands for all columns of a record: `{event}` for those of an event, `{d.head}` for those of a
head in the table `d`, `{:new_event}` for the parameters of a new event. So no statement depends on other
columns that a table may have. A statement that selects `{found}` exists twice: for whole events, and with
`_as_views` after its name for `event_view.sql`.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

from garden.events import rows

_NAME = re.compile(r"^-- name: ([a-z_]+)$", re.MULTILINE)
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "event": rows.EVENT_COLUMNS,
    "annotation": rows.ANNOTATION_COLUMNS,
    "head": rows.HEAD_COLUMNS,
    "new_event": rows.NEW_EVENT,
    "new_state": rows.NEW_STATE,
    "filled_event": rows.FILLED_EVENT,
    "filled_annotation": rows.FILLED_ANNOTATION,
    "written_state": rows.WRITTEN_STATE,
    "passage": rows.PASSAGE,
    "leaf_event": rows.LEAF_EVENT,
    "leaf_annotation": rows.LEAF_ANNOTATION,
    "version": rows.VERSION,
}
# What a statement selects for each of the other forms.
_FORMS = {
    "views": ("event_view", "*"),
    "facets": (
        "event_facets",
        "actor, tool, type, status::text as status, sections, section_anchor, created_at",
    ),
}
_PLACEHOLDER = re.compile(rf"\{{(:|[a-z]\.)?({'|'.join(_COLUMNS)})\}}")


@cache
def statements(file: str) -> Mapping[str, bytes]:
    """Read the named statements of `events/sql/<file>.sql`."""
    _, *parts = _NAME.split(_PLACEHOLDER.sub(_expand, _text(file)))
    named = {name: sql.strip() for name, sql in zip(parts[::2], parts[1::2], strict=True)}
    events = ", ".join(rows.EVENT_COLUMNS)
    other_forms = {
        f"{name}_as_{form}": _text(outer).replace(
            "{events}", sql.rpartition(";")[0].replace("{found}", columns)
        )
        for form, (outer, columns) in _FORMS.items()
        for name, sql in named.items()
        if "{found}" in sql
    }
    return MappingProxyType(
        {name: sql.replace("{found}", events).encode() for name, sql in (named | other_forms).items()}
    )


def _text(file: str) -> str:
    return resources.files("garden.events").joinpath("sql", f"{file}.sql").read_text("utf-8")


def _expand(placeholder: re.Match[str]) -> str:
    form = "%({})s" if placeholder[1] == ":" else f"{placeholder[1] or ''}{{}}"
    return ", ".join(form.format(name) for name in _COLUMNS[placeholder[2]])
