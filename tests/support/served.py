"""The service as a real process, and its callers."""

import itertools
import os
import secrets
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2

from garden.application import Garden
from garden.events.tokens import Token
from garden.home.folder import Home, ensure_home
from tests.support.databases import TestServer
from tests.support.planted import opened, put_database

_NUMBERS = itertools.count()
# No test speaks TLS, and to load the authorities for each client takes 20 ms.
NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@dataclass
class Person:
    """A user with a garden and a token."""

    user_id: str
    secret: str = field(repr=False)
    token: Token
    client: httpx2.Client

    @property
    def notes(self) -> str:
        return f"users/{self.user_id}/notes.md"

    @property
    def profile(self) -> str:
        return f"users/{self.user_id}/parts/critic/profile.md"

    def call(self, tool: str, /, **args: Any) -> httpx2.Response:
        return self.client.post(f"/v1/tools/{tool}", json=args)

    def ok(self, tool: str, /, **args: Any) -> dict[str, Any]:
        """Call a tool that must succeed; return the whole envelope."""
        answer = self.call(tool, **args)
        assert answer.status_code == 200, answer.text
        envelope: dict[str, Any] = answer.json()
        return envelope


@dataclass
class Service:
    """A running service, and its garden opened in this process too."""

    url: str
    process: subprocess.Popen[str]
    garden: Garden
    connections_kept: int | None = None

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.url)
        assert parts.hostname is not None
        assert parts.port is not None
        return parts.hostname, parts.port

    @contextmanager
    def person(self, role: str = "agent", user_id: str | None = None) -> Iterator[Person]:
        """Make a user, or another token for a user."""
        user_id = user_id or f"user-{next(_NUMBERS)}-{secrets.token_hex(3)}"
        issued = self.garden.tokens.create(user_id, role=role, actor="companion", expires_at=None)
        with self.client(issued.secret) as client:
            yield Person(user_id, issued.secret, issued.token, client)

    @contextmanager
    def writer(self) -> Iterator[Person]:
        """Make a user whose companion has notes."""
        with self.person() as person:
            person.ok("md.plant", path=person.notes)
            yield person

    def client(self, secret: str | None) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        limits = httpx2.Limits(max_keepalive_connections=self.connections_kept)
        return httpx2.Client(
            base_url=self.url, headers=headers, timeout=60, limits=limits, verify=NO_AUTHORITIES
        )

    def connected(self) -> socket.socket:
        """A bare connection."""
        return socket.create_connection(self.address, timeout=60)

    def stop(self) -> int:
        """Stop the service and wait for it."""
        self.process.terminate()
        return self.process.wait(timeout=60)


@contextmanager
def served(
    home: Home, *words: str, env: dict[str, str] | None = None, port: bool = True
) -> Iterator[Service]:
    """Run `garden serve` on a free port, or on what the words name, on a ready home."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GARDEN_")}
    command = [
        sys.executable,
        "-m",
        "garden",
        "--home",
        str(home.path),
        "serve",
        *(["--port", "0"] if port else []),
        "--processes",
        "1",
        *words,
    ]
    with (
        opened(home) as garden,
        (home.path / "serve.log").open("a") as log,
        subprocess.Popen(
            command, env={**clean, **(env or {})}, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            assert said.startswith("Listening on "), (home.path / "serve.log").read_text()
            yield Service(said.split()[-1], process, garden)
        finally:
            process.kill()


@contextmanager
def home_of_its_own(server: TestServer, root: Path) -> Iterator[Home]:
    """A home with a fresh database, shared by several tests."""
    folder = root / secrets.token_hex(6)
    folder.mkdir()
    folder.chmod(0o711)
    with server.database(server.template()) as url:
        home = ensure_home(folder / "home")
        put_database(home, url)
        yield home


def head_and_body(answer: bytes) -> tuple[int, str]:
    """Split a raw answer into status and text."""
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body.decode()
