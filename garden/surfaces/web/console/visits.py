"""What a view gets and what it returns: a visit, and a page, a redirect or a download."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, Any
from urllib.parse import quote

from starlette.datastructures import QueryParams

from garden.application import Garden
from garden.events.records import Caller
from garden.gateway.access import Access
from garden.session import Session

PREFIX = "/console"


@dataclass(frozen=True)
class Visit:
    """One request of a person who is signed in."""

    garden: Garden
    session: Session
    place: Mapping[str, str]
    """The parts of the address that the view's pattern names."""
    query: QueryParams
    form: Mapping[str, str] = field(repr=False)

    @property
    def caller(self) -> Caller:
        """The person, as every call sees them."""
        return self.session.caller

    @property
    def access(self) -> Access:
        """The way in of this person."""
        return self.session.access

    @property
    def is_maintainer(self) -> bool:
        """Whether the person may repair, restore and erase."""
        return self.caller.role == "maintainer"

    def short(self, path: str | None) -> str:
        """A path without the folder of the user."""
        return (path or "").removeprefix(f"users/{self.caller.user_id}/")

    def full(self, path: str) -> str:
        """A path that may be relative to the garden, in full."""
        is_full = path.startswith(("users/", "history/"))
        return path if is_full else f"users/{self.caller.user_id}/{path}"


@dataclass(frozen=True)
class Page:
    """A template and its values."""

    template: str
    values: Mapping[str, Any]
    status: int = 200


@dataclass(frozen=True)
class Redirect:
    """Another page of the console to go on to."""

    path: str


@dataclass(frozen=True)
class Download:
    """An open file for the person's disk; it is closed when it was sent."""

    name: str
    file: IO[bytes] = field(repr=False)
    media_type: str = "application/octet-stream"


Answer = Page | Redirect | Download


@dataclass(frozen=True)
class View:
    """A page or an action of the console at an address below its prefix.

    It runs in a thread. A POST has passed the checks of origin and form.
    """

    method: str
    path: str
    answer: Callable[[Visit], Answer]


def address(path: str, /, **query: object) -> str:
    """The address of a page; values of the query that are None or empty are left out."""
    given = "&".join(
        f"{name}={quote(str(value), safe='')}" for name, value in query.items() if value not in (None, "")
    )
    return f"{PREFIX}{quote(path)}{'?' + given if given else ''}"


def is_page(path: str) -> bool:
    """Whether an address of the service is the console's."""
    return path == "/" or path == PREFIX or path.startswith(f"{PREFIX}/")
