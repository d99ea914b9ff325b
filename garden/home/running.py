"""The services of a home that run on this machine: each holds a lock on a file with its address."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from garden.home.folder import Home

_PREFIX = "serving-"


@contextmanager
def announced(home: Home, url: str | None, user_id: str | None = None) -> Iterator[None]:
    """Announce a service at this address while the block lasts, of all users or of one.

    One without an address is not announced.
    """
    if url is None:
        yield
        return
    path = home.state / f"{_PREFIX}{urlsplit(url).netloc}"
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        # The lock ends with the process, and a file that a killed service left says nothing.
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(f"{url}\n{user_id or ''}")
        file.flush()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def running_services(home: Home, user_id: str) -> list[str]:
    """The addresses of the services that run now and serve this user."""
    return [
        url
        for path in sorted(home.state.glob(f"{_PREFIX}*"))
        for url, _, only_user in [_announcement_in(path).partition("\n")]
        if url and only_user in ("", user_id)
    ]


def _announcement_in(path: Path) -> str:
    try:
        with path.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read()
    except OSError:
        pass
    return ""
