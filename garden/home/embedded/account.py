"""The machine's account that runs the server.

Postgres refuses to run as root. For root, the server runs under an account of its own, which owns only the
database folder.
"""

import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from garden.grammar.errors import GardenError
from garden.home.logs import log_notice

DEDICATED_NAME = "memory-garden"


class EmbeddedPostgresError(GardenError):
    """The embedded Postgres server can't be started or reached."""

    code = "unavailable"

    def __init__(self, message: str, *, hint: str) -> None:
        own = "Or set GARDEN_DATABASE_URL to a PostgreSQL server (15 or newer) of your own."
        super().__init__(message, hint=f"{hint} {own}")


@dataclass(frozen=True)
class Account:
    """An account of this machine."""

    name: str
    uid: int
    gid: int

    def subprocess_arguments(self) -> dict[str, Any]:
        """The `subprocess` arguments that run a child under this account."""
        if self.uid == os.geteuid():
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def may(self, test: str, path: Path) -> bool:
        """Whether the system lets this account enter (`-x`) or read (`-r`) a path."""
        done = subprocess.run(
            ["/bin/sh", "-c", 'test "$1" "$2"', "sh", test, path],
            check=False,
            cwd="/",
            **self.subprocess_arguments(),
        )
        return done.returncode == 0


def choose_account(data: Path, notice: Callable[[str], None] = log_notice) -> Account:
    """Choose the account of the server: the owner of the data, else the caller, else the dedicated one.

    A dedicated one that had to be made is reported.
    """
    owner = data.stat().st_uid if data.exists() else os.geteuid()
    if owner == 0:
        return _dedicated(notice)
    account = _account_of(owner)
    if os.geteuid() not in (0, owner):
        raise EmbeddedPostgresError(
            f"The database of this home belongs to the user {account.name}.",
            hint=f"Run the command as {account.name}.",
        )
    return account


def _dedicated(notice: Callable[[str], None]) -> Account:
    deadline = time.monotonic() + 10
    while True:
        try:
            return _from_entry(pwd.getpwnam(DEDICATED_NAME))
        except KeyError:
            problem = _add_dedicated()
            if not problem:
                notice(
                    f"Made the system account {DEDICATED_NAME}, because Postgres does not run as root. After "
                    f"'garden database stop', 'userdel {DEDICATED_NAME}' removes it."
                )
        # Another process that is adding an account holds the lock of the password file.
        if problem and time.monotonic() > deadline:
            raise EmbeddedPostgresError(
                f"Postgres does not run as root, and no account '{DEDICATED_NAME}' could be made: {problem}",
                hint=f"Run as an ordinary user, or add a system account named '{DEDICATED_NAME}'.",
            )
        time.sleep(0.05 if problem else 0)


def _add_dedicated() -> str:
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if useradd is None:
        return "there is no useradd on this machine."
    done = subprocess.run(
        [useradd, "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent",
         "--shell", "/usr/sbin/nologin", DEDICATED_NAME],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return "" if done.returncode == 0 else done.stderr.strip()


def _account_of(uid: int) -> Account:
    try:
        return _from_entry(pwd.getpwuid(uid))
    except KeyError:
        raise EmbeddedPostgresError(
            f"The user id {uid} has no name on this machine, and Postgres does not start without one.",
            hint="Give it an entry in /etc/passwd.",
        ) from None


def _from_entry(entry: pwd.struct_passwd) -> Account:
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
