"""A person at the console, without a browser: pages are fetched, read and answered as forms."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape

import httpx2

from garden.surfaces.web.console.door import form_token
from tests.support.served import Person, Service


@dataclass
class Visitor:
    """A person who is signed in to the console."""

    user_id: str
    client: httpx2.Client

    def get(self, path: str = "/") -> httpx2.Response:
        return self.client.get(f"/console{path}")

    def text(self, path: str = "/") -> str:
        """The words of a page that must exist, without its markup."""
        return words_of(self.page(path))

    def page(self, path: str = "/") -> str:
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.text

    def post(self, path: str, /, *, form_token: str | None = None, **fields: str) -> httpx2.Response:
        """Send a form of the console."""
        token = self.form_token() if form_token is None else form_token
        return self.client.post(f"/console{path}", data={**fields, "form_token": token})

    def form_token(self) -> str:
        """What every form of this sign-in carries."""
        [cookie] = self.client.cookies.values()
        return form_token(cookie)


def words_of(page: str) -> str:
    main = page.partition("<main")[2].partition(">")[2]
    return " ".join(unescape(re.sub("<[^>]*>", " ", main)).split())


@contextmanager
def visiting(
    service: Service, person: Person, role: str = "maintainer", actor: str = "owner"
) -> Iterator[Visitor]:
    """Sign in by a link of the home's command line."""
    code = service.garden.sign_ins.make_link(person.user_id, role=role, actor=actor)
    with service.client(None) as client:
        assert client.get(f"/console/enter?code={code}").status_code == 200
        yield Visitor(person.user_id, client)
