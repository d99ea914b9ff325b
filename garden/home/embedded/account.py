"""The machine's account that runs the server, and the folders it may enter.

Postgres refuses to run as root. For root, the server runs under an account of its own, which owns only the
database folder. To pass through the folders above, that account gets an access control entry of its own, so
that no folder opens up to other accounts.
"""

import os
import pwd
import shutil
import struct
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from garden.grammar.errors import GardenError

DEDICATED_NAME = "memory-garden"
_ACL_ATTRIBUTE = "system.posix_acl_access"
_ACL_VERSION = 2
_USER_OBJ, _USER, _GROUP_OBJ, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x10, 0x20
_NO_ID = 0xFFFFFFFF
_ENTER = 1


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


def choose_account(data: Path) -> Account:
    """Choose the account of the server: the owner of the data, else the caller, else the dedicated one."""
    owner = data.stat().st_uid if data.exists() else os.geteuid()
    if owner == 0:
        return _dedicated()
    account = _account_of(owner)
    if os.geteuid() not in (0, owner):
        raise EmbeddedPostgresError(
            f"The database of this home belongs to the user {account.name}.",
            hint=f"Run the command as {account.name}.",
        )
    return account


def let_pass(account: Account, target: Path, own: Path) -> None:
    """Let the account pass through each folder above the target; the folders below `own` may be opened."""
    for folder in reversed(target.resolve().parents):
        if not account.may("-x", folder):
            _let_enter(account, folder, ours=folder.is_relative_to(own))


def open_programs(account: Account, installation: Path) -> None:
    """Let the account run the server programs, which are public software."""
    let_pass(account, installation, installation)
    if account.may("-x", installation / "bin" / "postgres") and account.may("-r", installation / "share"):
        return
    libraries = installation.parent.with_name(f"{installation.parent.name}.libs")
    for root in (installation, libraries):
        for path in (root, *root.rglob("*")):
            if not path.is_symlink():
                mode = path.stat().st_mode & 0o777
                path.chmod(mode | 0o444 | (0o111 if mode & 0o100 else 0))


def _dedicated() -> Account:
    deadline = time.monotonic() + 10
    while True:
        try:
            return _from_entry(pwd.getpwnam(DEDICATED_NAME))
        except KeyError:
            problem = _add_dedicated()
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


def _let_enter(account: Account, folder: Path, *, ours: bool) -> None:
    try:
        os.setxattr(folder, _ACL_ATTRIBUTE, _acl_with(account.uid, folder))
    except (OSError, AttributeError):
        if not ours:
            raise EmbeddedPostgresError(
                f"Postgres does not run as root, and its account {account.name} can't pass {folder}.",
                hint=f"Run as an ordinary user, or allow it with: chmod o+x '{folder}'.",
            ) from None
        folder.chmod(folder.stat().st_mode & 0o777 | 0o001)


def _acl_with(uid: int, folder: Path) -> bytes:
    """The folder's access control list, with an entry that lets this user enter, but not list or write."""
    entries = {key: mode for key, mode in _acl_entries(folder).items() if key != (_USER, uid)}
    entries[_USER, uid] = _ENTER
    group = entries[_GROUP_OBJ, _NO_ID]
    entries[_MASK, _NO_ID] = entries.get((_MASK, _NO_ID), group) | _ENTER
    packed = (struct.pack("<HHI", tag, mode, who) for (tag, who), mode in sorted(entries.items()))
    return struct.pack("<I", _ACL_VERSION) + b"".join(packed)


def _acl_entries(folder: Path) -> dict[tuple[int, int], int]:
    try:
        raw = os.getxattr(folder, _ACL_ATTRIBUTE)
    except OSError:
        mode = folder.stat().st_mode
        return {
            (_USER_OBJ, _NO_ID): mode >> 6 & 7,
            (_GROUP_OBJ, _NO_ID): mode >> 3 & 7,
            (_OTHER, _NO_ID): mode & 7,
        }
    return {(tag, who): mode for tag, mode, who in struct.iter_unpack("<HHI", raw[4:])}
