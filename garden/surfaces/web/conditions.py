"""Headers that stand for fields of a call (`If-Match`, `Idempotency-Key`), and entity tags."""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from pydantic.alias_generators import to_snake

from garden.surfaces.web.problems import NotAcceptedError
from garden.tools.declaration import Tool
from garden.tools.wire import RecordedRequest, WriteRequest

_TAG = re.compile(r'"([\x21\x23-\x7e]+)"')
_MARK_CHARACTERS = 16
_MARKED = re.compile(rf"(sha256:[0-9a-f]{{64}})\.[0-9a-f]{{{_MARK_CHARACTERS}}}")
_KEY_CHARACTERS_MAX = 255


def entity_tag(content_hash: str) -> str:
    """Quote a hash as an entity tag."""
    return f'"{content_hash}"'


def text_tag(content_hash: str, text: bytes) -> str:
    """Return the entity tag of a text: its content hash, and a mark of its bytes if they hash differently.

    The content hash ignores trailing white space and line ends; an entity tag must not.
    """
    digest = sha256(text).hexdigest()
    mark = "" if content_hash == f"sha256:{digest}" else f".{digest[:_MARK_CHARACTERS]}"
    return entity_tag(content_hash + mark)


def hash_to_match(header: str) -> str:
    """Return the content hash in an `If-Match` header."""
    if header.strip() == "*":
        raise NotAcceptedError(
            "If-Match: * names no version.", hint="Send the ETag of the document that you read."
        )
    found = _TAG.fullmatch(header.strip())
    if found is None:
        raise NotAcceptedError(
            "If-Match must be one strong entity tag, in quotes.",
            hint='Send the ETag as it came: If-Match: "sha256:...".',
        )
    marked = _MARKED.fullmatch(found[1])
    return found[1] if marked is None else marked[1]


def is_among(header: str, tag: str) -> bool:
    """Whether `If-None-Match` names this entity tag, weak or strong."""
    tags = {each.strip().removeprefix("W/") for each in header.split(",")}
    return "*" in tags or tag in tags


def add_header_fields(tool: Tool[Any], args: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    """Add the fields in the headers to the arguments; a field in both must have one value."""
    fields: dict[str, str] = {}
    key = headers.get("idempotency-key")
    # A key makes no difference to a read.
    if key is not None and issubclass(tool.request, RecordedRequest):
        fields["idempotencyKey"] = _parse_key(key)
    match = headers.get("if-match")
    if match is not None:
        if not issubclass(tool.request, WriteRequest):
            raise NotAcceptedError(f"{tool.name} takes no If-Match.", hint="Leave the header out.")
        fields["ifMatch"] = hash_to_match(match)
    added = dict(args)
    for name, value in fields.items():
        given = _given(args, name)
        if given is None:
            added[name] = value
        elif given != value:
            raise NotAcceptedError(
                f"The header and the body differ in {name}.",
                hint="Send it in one place, or the same value in both.",
            )
    return added


def _given(args: Mapping[str, Any], name: str) -> Any:
    options = args.get("opts")
    places = (args, options) if isinstance(options, Mapping) else (args,)
    spellings = (name, to_snake(name))
    return next((place[each] for place in places for each in spellings if each in place), None)


def _parse_key(key: str) -> str:
    # The IETF's draft quotes the key; many clients do not.
    plain = key.strip()
    if len(plain) >= 2 and plain[0] == plain[-1] == '"':
        plain = plain[1:-1]
    if not plain or len(plain) > _KEY_CHARACTERS_MAX or not plain.isprintable():
        raise NotAcceptedError(
            "This is no Idempotency-Key.",
            hint=f"Use 1 to {_KEY_CHARACTERS_MAX} printable characters, different for each request.",
        )
    return plain
