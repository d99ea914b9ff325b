"""The declaration of a kind, and how it is read from TOML."""

import re
import tomllib
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from garden.grammar.errors import GardenError
from garden.grammar.values import Anchor

Shape = Literal["narrative", "list", "log"]
SectionRole = Literal["evidence", "change_log"]
IdentityKey = Literal["id", "user_id", "schema", "participants"]

PATH_DEPTH_MAX = 4
# Names of folders and events that mean something else already.
_NO_FREE_KINDS = frozenset(
    {"parts", "relationships", "profile", "relationship", "folder"}
    | {"overview", "notes", "part_profile", "relationship_profile"}
)
_PATH_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}|\{[a-z_]+\}")
_ANCHOR_NAME = re.compile(r"([a-z][a-z0-9_-]{0,63}) v([1-9][0-9]{0,5})")


class KindError(GardenError):
    """A kind's declaration is invalid; the message names the file and the key."""

    code: ClassVar[str] = "invalid_input"


def _anchor(value: object) -> object:
    match = _ANCHOR_NAME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError('an anchor looks like "concerns v1"')
    return Anchor(match[1], int(match[2]))


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


class _Declared(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SectionKind(_Declared):
    """One section of a kind: heading, anchor, shape and caps.

    `entries` says that it takes the entries that are appended to the document.
    """

    heading: str = Field(min_length=1, max_length=120, pattern=r"^[^\s#](?:[^\r\n]*[^\s#])?$")
    anchor: Annotated[Anchor, BeforeValidator(_anchor)]
    shape: Shape
    role: SectionRole | None = None
    entries: bool = False
    note_words: int | None = Field(default=None, gt=0)
    cap_words: int | None = Field(default=None, gt=0)
    cap_items: int | None = Field(default=None, gt=0)

    @property
    def is_change_log(self) -> bool:
        """Whether this section is the Change Log, which only grows."""
        return self.role == "change_log"


class Kind(_Declared):
    """A kind of document, as declared."""

    kind: str = Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")
    summary: str
    title: str = Field(min_length=1, pattern=r"^[^\r\n]+$")
    schema_version: int = Field(alias="schema", ge=1)
    identity: Annotated[tuple[IdentityKey, ...], BeforeValidator(_as_tuple)]
    further_sections: bool = False
    paths: Annotated[tuple[str, ...], BeforeValidator(_as_tuple)] = ()
    sections: Annotated[tuple[SectionKind, ...], BeforeValidator(_as_tuple)] = ()

    @model_validator(mode="after")
    def _names_are_unique(self) -> "Kind":
        for subject, names in (
            ("anchor", [str(section.anchor) for section in self.sections]),
            ("heading", [section.heading.casefold() for section in self.sections]),
        ):
            twice = {str(name) for name in names if names.count(name) > 1}
            if twice:
                raise ValueError(f"{subject} declared twice: {', '.join(sorted(twice))}")
        return self

    @model_validator(mode="after")
    def _one_section_takes_entries(self) -> "Kind":
        taking = [section for section in self.sections if section.entries]
        if len(taking) > 1 or any(section.is_change_log for section in taking):
            raise ValueError("one section at most takes entries, and the Change Log does not")
        return self

    @model_validator(mode="after")
    def _paths_are_of_this_kind(self) -> "Kind":
        if not self.paths:
            if not (self.sections and self.identity):
                raise ValueError("a kind without paths declares sections and identity")
            return self
        if self.kind in _NO_FREE_KINDS:
            raise ValueError(f"paths: a kind {self.kind!r} can't declare any")
        for path in self.paths:
            first, *names = path.removesuffix(".md").split("/")
            if first != self.kind or not path.endswith(".md") or not 1 <= len(names) < PATH_DEPTH_MAX:
                raise ValueError(
                    f"paths: {path!r} must begin with '{self.kind}/', end in '.md' and have 2 to "
                    f"{PATH_DEPTH_MAX} names"
                )
            if not all(map(_PATH_NAME.fullmatch, names)):
                raise ValueError(f"paths: {path!r} may hold ids and {{placeholders}} only")
        return self

    @property
    def entries_anchor(self) -> Anchor | None:
        """The anchor of the section that takes appended entries."""
        return next((section.anchor for section in self.sections if section.entries), None)

    @cached_property
    def log_anchors(self) -> tuple[Anchor, ...]:
        """The anchors of the sections that are a Change Log."""
        return tuple(section.anchor for section in self.sections if section.is_change_log)

    def section(self, anchor: Anchor | None) -> SectionKind | None:
        """Return the declared section with this anchor."""
        return next((section for section in self.sections if section.anchor == anchor), None)


def is_free(kind: Kind | None) -> bool:
    """Whether documents of this kind are free-form: any text, below a folder of the kind's name."""
    return kind is not None and bool(kind.paths)


def read_kind(name: str, text: str, known: Mapping[str, Kind]) -> Kind:
    """Read one declaration; `name` is the file name for messages, `known` are the kinds it may extend."""
    table = _read_toml(name, text)
    whole = _extend(name, table, known) if "extends" in table else table
    try:
        kind = Kind.model_validate(whole)
    except ValidationError as error:
        raise _refusal(name, error) from error
    if kind.kind in known and table.get("extends") != kind.kind:
        raise KindError(
            f"{name}: kind: there is a kind {kind.kind!r} already",
            hint=f'To change it, begin the file with: extends = "{kind.kind}".',
            details={"file": name, "key": "kind"},
        )
    return kind


def _read_toml(name: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise KindError(
            f"{name} is not valid TOML: {error}", hint="Correct the file or remove it."
        ) from error


def _refusal(name: str, error: ValidationError) -> KindError:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"]) or "the declaration"
    return KindError(
        f"{name}: {key}: {first['msg']}",
        hint="Compare it with the declarations that come with the package.",
        details={"file": name, "key": key},
    )


def _extend(name: str, table: dict[str, Any], known: Mapping[str, Kind]) -> dict[str, Any]:
    base = known.get(str(table["extends"]))
    if base is None:
        raise KindError(
            f"{name}: extends: there is no kind {table['extends']!r}",
            hint=f"There are: {', '.join(sorted(known))}.",
            details={"file": name, "key": "extends"},
        )
    own = {key: value for key, value in table.items() if key not in ("extends", "sections")}
    sections = _merge_sections(name, base, table.get("sections", []))
    return {**_plain(base), **own, "sections": sections}


def _plain(base: Kind) -> dict[str, Any]:
    return base.model_dump(by_alias=True, exclude={"sections"})


def _merge_sections(name: str, base: Kind, changes: Any) -> list[Any]:
    merged = [
        {**section.model_dump(exclude_none=True), "anchor": str(section.anchor)} for section in base.sections
    ]
    if not isinstance(changes, list) or not all(isinstance(change, dict) for change in changes):
        raise KindError(f"{name}: sections: must be tables", details={"file": name, "key": "sections"})
    for change in changes:
        same = next((section for section in merged if section["anchor"] == change.get("anchor")), None)
        if same:
            same.update(change)
        else:
            merged.insert(_place(merged), change)
    return merged


def _place(sections: list[dict[str, Any]]) -> int:
    """Return the position of a new section: last, but above the sections that grow at their end."""
    growing = (
        index
        for index, section in enumerate(sections)
        if section.get("role") == "change_log" or section.get("entries")
    )
    return next(growing, len(sections))
