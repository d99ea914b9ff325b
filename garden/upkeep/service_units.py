"""The systemd units of a home: planned, written, and taken back."""

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from pwd import getpwuid
from typing import Literal

from garden.grammar.errors import GardenError
from garden.home.embedded.account import Account
from garden.home.folder import Home
from garden.home.settings import FILE_NAME, setting_paths, variable_in_use
from garden.home.state_files import write_private_file

UNITS = ("memory-garden@.service", "memory-garden-database.service")
_TEMPLATES = Path(__file__).parents[1] / "units"
_MARK = "# Written by 'garden install-service'; the rest has the checksum "
# systemd gives these a meaning of their own.
_UNFIT = re.compile(r'["\\$%]|[^\x20-\x7e]')


class UnitError(GardenError):
    """The units can't be written or removed as asked."""

    code = "unavailable"


@dataclass(frozen=True)
class UnitFile:
    """A unit's file, with its text before and after the change; None is no file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def change(self) -> Literal["add", "change", "remove", "keep"]:
        """The change that putting it in place makes."""
        if self.before == self.after:
            return "keep"
        if self.after is None:
            return "remove"
        return "add" if self.before is None else "change"


def account_of(home: Home) -> Account:
    """The account that owns the home, under which the system's units run."""
    owner = home.path.stat().st_uid
    try:
        entry = getpwuid(owner)
    except KeyError:
        raise UnitError(
            f"The user id {owner}, which owns {home.path}, has no name on this machine.",
            hint="Give it an entry in /etc/passwd.",
        ) from None
    if owner == 0:
        raise UnitError(
            f"{home.path} belongs to root, and the service should not run as root.",
            hint="Make an account, such as with 'useradd --system garden', and give the home to it with "
            "'chown -R'. Or install units for one user: --user.",
        )
    return Account(entry.pw_name, owner, entry.pw_gid)


def installed_program() -> Path:
    """The installed program `garden` that belongs to this interpreter."""
    return Path(sys.executable).with_name("garden")


def check_environment() -> None:
    """Refuse settings from the environment: a unit would run without them, perhaps on another database."""
    found = [variable_in_use(path) for path in setting_paths() if path != ("home",)]
    if names := [each for each in found if each]:
        raise UnitError(
            f"Set in your environment, which a unit does not have: {', '.join(names)}.",
            hint=f"Put what the service needs into {FILE_NAME} in the home, and unset the variables.",
        )


def check_runs(program: Path, account: Account | None) -> None:
    """Refuse a program that the account, or the caller, can't run."""
    for each in (program, Path(sys.executable)):
        if not (account.may("-x", each) if account else os.access(each, os.X_OK)):
            raise UnitError(
                f"{f'The account {account.name}' if account else 'systemd'} can't run {each}.",
                hint="Install memory-garden where it can, for example in a virtual environment in /opt.",
            )


def plan_units(home: Home, program: Path, folder: Path, account: Account | None) -> list[UnitFile]:
    """Plan the units of a home; without an account, those of the caller's own service manager."""
    words = {
        "GARDEN": str(program),
        "HOME": str(home.path.resolve()),
        "ACCOUNT": account.name if account else "",
        "TARGET": "multi-user.target" if account else "default.target",
    }
    for word in words.values():
        if _UNFIT.search(word):
            raise UnitError(
                f"A unit can't hold this path: {word}.",
                hint="Use a path without quotes, controls, \\, $, % and letters beyond ASCII.",
            )
    parts = ("sandbox.conf", "sandbox-system.conf") if account else ("sandbox.conf",)
    return [_planned(folder / name, _render((name, *parts), words)) for name in UNITS]


def plan_removal(folder: Path) -> list[UnitFile]:
    """Plan the removal of the units that are there."""
    found = [_planned(folder / name, None) for name in UNITS]
    return [each for each in found if each.before is not None]


def enabled_units(folder: Path) -> list[str]:
    """Name the units that start by themselves."""
    return sorted({link.name for link in folder.glob("*.wants/memory-garden[@-]*")})


def put_units(files: Sequence[UnitFile]) -> None:
    """Write or remove every file; a crash leaves the text before or the text after."""
    try:
        for each in files:
            if each.after is None:
                each.path.unlink(missing_ok=True)
            elif each.before != each.after:
                each.path.parent.mkdir(parents=True, exist_ok=True)
                write_private_file(each.path, each.after.encode())
                each.path.chmod(0o644)
    except (OSError, GardenError) as error:
        raise UnitError(
            f"The units can't be changed: {error}.",
            hint="Run it as root, or install units for your own account: --user.",
        ) from None


def _planned(path: Path, after: str | None) -> UnitFile:
    try:
        before = path.read_text("utf-8")
    except FileNotFoundError:
        before = None
    except (OSError, UnicodeDecodeError) as error:
        raise UnitError(
            f"{path} can't be read: {error}.", hint="Look at the file, and move it away."
        ) from None
    if before is not None and not _is_ours(before):
        raise UnitError(
            f"{path} was written by hand, or edited since 'garden install-service' wrote it.",
            hint=f"Move it away. Changes are kept in a drop-in, which 'systemctl edit {path.name}' makes.",
        )
    return UnitFile(path, before, after)


def _render(names: Sequence[str], words: dict[str, str]) -> str:
    text = "".join((_TEMPLATES / name).read_text("utf-8") for name in names)
    text = re.sub("@([A-Z]+)@", lambda found: words[found[1]], text)
    return f"{_MARK}{_checksum(text)}\n{text}"


def _is_ours(text: str) -> bool:
    head, _, rest = text.partition("\n")
    return head == f"{_MARK}{_checksum(rest)}"


def _checksum(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
