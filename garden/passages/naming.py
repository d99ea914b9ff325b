"""The names of passages: keyed hashes, so that they say nothing about the words to those without the key."""

import hmac
import re
from typing import ClassVar

from garden.events.keyring import Keyring
from garden.grammar.errors import GardenError

PURPOSE = "recall.passage"
_DIGITS = "abcdefghijklmnopqrstuvwxyz234567"
# Ten digits of five bits each, the highest first.
_SHIFTS = range(45, -1, -5)
_ID = re.compile(r"([^#\n]+)#(.*)/([a-z2-7]{10}(?:~[1-9][0-9]{0,8})?)", re.DOTALL)


class InvalidPassageIdError(GardenError):
    """This is not the id of a passage."""

    code: ClassVar[str] = "invalid_input"

    def __init__(self) -> None:
        super().__init__(
            "This is not the id of a passage.",
            hint="Give an id as memory.recall and memory.list print it: path#anchor/name.",
        )


class Naming:
    """Names passages with a key; for one change, since it keeps what it has worked out."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._hashes: dict[tuple[str, ...], bytes] = {}

    @classmethod
    def of(cls, keyring: Keyring) -> "Naming":
        """Name with the oldest key, so that a new one changes no name."""
        return cls(keyring.derived_key(keyring.versions[0], PURPOSE))

    def name(self, text: str) -> str:
        """The name of a passage with this text; equal ones below it get a number."""
        number = int.from_bytes(self._hash("name", text)[:8], "big") >> 14
        return "".join([_DIGITS[number >> shift & 31] for shift in _SHIFTS])

    def number(self, path: str, anchor: str, name: str) -> int:
        """The number of a passage in the database."""
        return int.from_bytes(self._hash("number", path, anchor, name)[:8], "big", signed=True)

    def _hash(self, *parts: str) -> bytes:
        if parts not in self._hashes:
            data = "\0".join(parts).encode("utf-8", "surrogatepass")
            self._hashes[parts] = hmac.digest(self._key, data, "sha256")
        return self._hashes[parts]


def passage_id(path: str, anchor: str, name: str) -> str:
    """The id of a passage for callers."""
    return f"{path}#{anchor}/{name}"


def parse_passage_id(text: str) -> tuple[str, str, str]:
    """Return the path, anchor and name of an id."""
    match = _ID.fullmatch(text)
    if match is None:
        raise InvalidPassageIdError
    return match[1], match[2], match[3]
