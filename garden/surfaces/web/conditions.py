"""The headers that mean the same as fields of a call: `If-Match`, `Idempotency-Key`, and entity tags."""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from pydantic.alias_generators import to_snake

from garden.surfaces.web.problems import NotAcceptedError
from garden.tools.declaration import Tool
from garden.tools.wire import Correlated, WriteRequest

_TAG = re.compile(r'"([\x21\x23-\x7e]+)"')
_MARK_CHARACTERS = 16
_MARKED = re.compile(rf"(sha256:[0-9a-f]{{64}})\.[0-9a-f]{{{_MARK_CHARACTERS}}}")
_KEY_CHARACTERS_MAX = 255


def entity_tag(content_hash: str) -> str:
    """Quote a hash as an entity tag."""
    return f'"{content_hash}"'


def text_tag(content_hash: str, text: bytes) -> str:
    """Give the entity tag of a text: its hash, and a mark of its bytes where those are not what was hashed.

    The hash overlooks trailing white space and line ends, and a tag must not.
    """
    digest = sha256(text).hexdigest()
    mark = "" if content_hash == f"sha256:{digest}" else f".{digest[:_MARK_CHARACTERS]}"
    return entity_tag(content_hash + mark)


def hash_to_match(header: str) -> str:
    """Take the hash out of `If-Match`; only one that a document can have now makes sense there."""
    if header.strip() == "*":
        raise NotAcceptedError(
            "If-Match: * says nothing of what was read.", hint="Send the ETag of the document that was read."
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
    """Whether `If-None-Match` names this entity tag, in whatever strength."""
    tags = {each.strip().removeprefix("W/") for each in header.split(",")}
    return "*" in tags or tag in tags


def with_headers(tool: Tool[Any], args: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    """Add what the headers say to the arguments; what both say must be the same."""
    said: dict[str, str] = {}
    key = headers.get("idempotency-key")
    # A read has the same effect however often it is sent, so a key changes nothing about it.
    if key is not None and issubclass(tool.request, Correlated):
        said["idempotencyKey"] = _checked_key(key)
    match = headers.get("if-match")
    if match is not None:
        if not issubclass(tool.request, WriteRequest):
            raise NotAcceptedError(f"{tool.name} knows no If-Match.", hint="Leave the header out.")
        said["ifMatch"] = hash_to_match(match)
    added = dict(args)
    for name, value in said.items():
        given = _given(args, name)
        if given is None:
            added[name] = value
        elif given != value:
            raise NotAcceptedError(
                f"The header and the body differ in {name}.", hint="Say it in one place, or the same in both."
            )
    return added


def _given(args: Mapping[str, Any], name: str) -> Any:
    options = args.get("opts")
    places = (args, options) if isinstance(options, Mapping) else (args,)
    spellings = (name, to_snake(name))
    return next((place[each] for place in places for each in spellings if each in place), None)


def _checked_key(key: str) -> str:
    # The IETF's draft has it quoted, as many clients do not.
    plain = key.strip()
    if len(plain) >= 2 and plain[0] == plain[-1] == '"':
        plain = plain[1:-1]
    if not plain or len(plain) > _KEY_CHARACTERS_MAX or not plain.isprintable():
        raise NotAcceptedError(
            "This can't be an Idempotency-Key.",
            hint=f"Use 1 to {_KEY_CHARACTERS_MAX} printable characters, different for each request.",
        )
    return plain
