"""Requests to other machines: a checkpoint kept elsewhere, and the witnesses."""

from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from garden.grammar.errors import GardenError
from garden.history.notes import Note, parse_note

_SECONDS_MAX = 10
_ANSWER_BYTES_MAX = 1024 * 1024


class FetchError(GardenError):
    """A file can't be read, or an address gives no answer."""

    code = "unavailable"


class Answer(NamedTuple):
    """The status of an HTTP answer, and its body."""

    status: int
    body: bytes


def request(method: str, url: str, body: bytes | None = None) -> Answer:
    """Send one HTTP request; follows no redirection."""
    try:
        parts = urlsplit(url)
        made = {"http": HTTPConnection, "https": HTTPSConnection}.get(parts.scheme)
        if made is None or not parts.hostname:
            raise FetchError(f"{url} is not an HTTP address.", hint="It begins with http:// or https://.")
        with closing(made(parts.hostname, parts.port, timeout=_SECONDS_MAX)) as connection:
            connection.request(method, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""), body)
            answer = connection.getresponse()
            return Answer(answer.status, answer.read(_ANSWER_BYTES_MAX))
    except (OSError, HTTPException, ValueError) as error:
        raise FetchError(
            f"{url} gives no answer: {error}.", hint="Check the address, and try again."
        ) from None


def read_note(place: str) -> Note:
    """Read a signed note from a file or an HTTP address."""
    if place.startswith(("http://", "https://")):
        answer = request("GET", place)
        if answer.status != 200:
            raise FetchError(f"{place} answers {answer.status}.", hint="Name the address of a checkpoint.")
        return parse_note(answer.body)
    try:
        return parse_note(Path(place).read_bytes())
    except OSError as error:
        raise FetchError(f"{place} can't be read: {error.strerror}.", hint="Name a file or a URL.") from None
