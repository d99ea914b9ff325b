"""Run a command on a scratch server of the machine's own PostgreSQL, named by GARDEN_TEST_DATABASE_URL.

    python -m tests.support.local_postgres make test

Where no supported PostgreSQL server is installed, say so and run nothing.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from garden.events.database import OLDEST_SERVER
from garden.home.embedded.account import choose_account
from garden.home.embedded.programs import Programs
from tests.support.databases import FAST, OUTSIDE
from tests.support.folders import fast_place


def main(command: list[str]) -> int:
    installed = sorted(find_installed())
    if not installed:
        print(f"No PostgreSQL {OLDEST_SERVER} or newer is installed here; nothing was run.")
        return 0
    major, folder = installed[-1]
    print(f"Running on a scratch server of PostgreSQL {major}", flush=True)
    with scratch_server(major, folder) as url:
        return subprocess.run(command, env=os.environ | {OUTSIDE: url}, check=False).returncode


def find_installed() -> Iterator[tuple[int, Path]]:
    for folder in Path("/usr/lib/postgresql").glob("*/bin"):
        major = folder.parent.name
        if major.isdigit() and int(major) >= OLDEST_SERVER and (folder / "initdb").exists():
            yield int(major), folder


@contextmanager
def scratch_server(major: int, folder: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="garden-local-", dir=fast_place()) as root:
        data = Path(root) / "data"
        account = choose_account(data)
        os.chown(root, account.uid, account.gid)
        programs = Programs(folder, major, account)
        run(programs, "initdb", "-D", str(data), "-U", "postgres", "-E", "UTF8", "--auth=trust", "--locale=C")
        with (data / "postgresql.conf").open("a") as configuration:
            settings = ("listen_addresses = ''", f"unix_socket_directories = '{data}'", *FAST)
            configuration.write("\n".join((*settings, "")))
        run(programs, "pg_ctl", "start", "-D", str(data), "-l", str(data / "log"), "-w")
        try:
            yield f"postgresql://postgres@/postgres?host={quote(str(data), safe='')}"
        finally:
            run(programs, "pg_ctl", "stop", "-D", str(data), "-m", "immediate", "-w")


def run(programs: Programs, name: str, *arguments: str) -> None:
    done = programs.run(name, *arguments)
    if done.returncode != 0:
        sys.exit(f"{name} failed:\n{done.stdout}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
