"""The request of `events.log`."""

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field

from garden.events.payloads import strings_in
from garden.tools.wire import Label, Line, RecordedRequest, plain

DETAILS_CHARACTERS_MAX = 64 * 1024
DETAILS_DEPTH_MAX = 32
Hash = Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]


def _check_details(details: dict[str, Any]) -> dict[str, Any]:
    level: list[object] = [details]
    for _ in range(DETAILS_DEPTH_MAX):
        level = [inner for value in level for inner in _inside(value)]
    if level:
        raise ValueError(f"must be nested at most {DETAILS_DEPTH_MAX} deep")
    for each in strings_in(details):
        plain(each)
    try:
        text = json.dumps(details, allow_nan=False)
    except TypeError:
        raise ValueError("must be JSON") from None
    if len(text) > DETAILS_CHARACTERS_MAX:
        raise ValueError(f"must be at most {DETAILS_CHARACTERS_MAX} characters of JSON")
    # What the database will return: Python callers may use numbers and truth values as names.
    return dict(json.loads(text))


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


class LogRequest(RecordedRequest):
    """What to record."""

    other_names: ClassVar[Mapping[str, str]] = {"path": "filePath"}
    rare: ClassVar[frozenset[str]] = frozenset({"op", "beforeHash", "afterHash", "details"})

    type: Label = Field(description="Such as observation, decision.")
    op: Label = Field("note", description="Such as note, append_item.")
    file_path: str | None = Field(None, description="The document it is about.")
    section_anchor: Line | None = Field(None, description="The section it is about.")
    before_hash: Hash | None = Field(None, description="Before the change.")
    after_hash: Hash | None = Field(None, description="After the change.")
    details: Annotated[dict[str, Any], AfterValidator(_check_details)] | None = Field(
        None, description="Anything else."
    )
