"""What an event keeps of the request behind it: a typed record for each kind of event, stored as JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class EditPayload:
    """An edit as it was asked for, and the planned answer.

    `sealed` is where the text under the line hash begins and ends, in characters; None if that is the whole
    document. A recovery takes its text from version `from_version`. `file_time` is when the text was
    written, by the clock of the file system. A change `in_transaction` is written even if its writer dies.
    """

    kind: ClassVar[str] = "edit"
    asked: Mapping[str, Any]
    answer: Mapping[str, Any] | None = None
    sealed: tuple[int, int] | None = None
    from_version: int | None = None
    file_was_missing: bool | None = None
    file_time: str | None = None
    in_transaction: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MovePayload:
    """The other path of a move: `to_path` in the event of the old path, `from_path` in that of the new.

    `from_version` is the version that a person moved by hand.
    """

    kind: ClassVar[str] = "move"
    from_path: str | None = None
    to_path: str | None = None
    from_version: int | None = None
    answer: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptedPayload:
    """An outside edit; `failed_event` is the event of the writer that woke up too late.

    `file_time` is when the file was last touched, by the clock of the file system.
    """

    kind: ClassVar[str] = "adopted"
    failed_event: str | None = None
    file_time: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotPayload:
    """The path of a history copy, and the hash of its bytes."""

    kind: ClassVar[str] = "snapshot"
    history_path: str
    raw_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotePayload:
    """The hashes and details that an agent recorded with `events.log`."""

    kind: ClassVar[str] = "note"
    before_hash: str | None = None
    after_hash: str | None = None
    details: Mapping[str, Any] | None = None


Payload = EditPayload | MovePayload | AdoptedPayload | SnapshotPayload | NotePayload

_KINDS: Mapping[str, type[Payload]] = {
    each.kind: each for each in (EditPayload, MovePayload, AdoptedPayload, SnapshotPayload, NotePayload)
}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


_NAMES: Mapping[str, tuple[tuple[str, str], ...]] = {
    kind: tuple((field.name, _camel(field.name)) for field in fields(each)) for kind, each in _KINDS.items()
}
_WIRE_NAMES = {kind: ("kind", *(wire for _, wire in names)) for kind, names in _NAMES.items()}
_VALUES = {kind: attrgetter("kind", *(name for name, _ in names)) for kind, names in _NAMES.items()}


def payload_json(payload: Payload | None) -> dict[str, Any] | None:
    """The JSON object of a payload, without empty fields."""
    if payload is None:
        return None
    named = zip(_WIRE_NAMES[payload.kind], _VALUES[payload.kind](payload), strict=True)
    return {wire: value for wire, value in named if value is not None}


def payload_of(stored: Mapping[str, Any] | None) -> Payload | None:
    """The payload of a JSON object."""
    if stored is None:
        return None
    kind = _KINDS[stored["kind"]]
    values = {name: stored[wire] for name, wire in _NAMES[kind.kind] if wire in stored}
    if "sealed" in values:
        values["sealed"] = tuple(values["sealed"])
    return kind(**values)


def strings_in(value: object) -> Iterator[str]:
    """Every string of a JSON value, names of fields included."""
    match value:
        case str():
            yield value
        case Mapping():
            yield from strings_in([*value.keys(), *value.values()])
        case list() | tuple():
            for inner in value:
                yield from strings_in(inner)
