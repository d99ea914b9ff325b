"""Starts, finds and stops a home's server, from any number of processes at once."""

import os
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from garden.grammar.errors import GardenError
from garden.home.embedded.account import Account, EmbeddedPostgresError, choose_account
from garden.home.embedded.cluster import DATABASE, SUPERUSER, Cluster
from garden.home.embedded.folder_access import granted_folders, let_pass, open_programs, take_back
from garden.home.embedded.programs import Programs, find_programs
from garden.home.folder import Home
from garden.home.logs import get_logger, log_notice
from garden.home.state_files import exclusive_lock

_SECONDS_MAX = 60
_POLL_SECONDS = 0.02
_UNREACHABLE_SECONDS_MAX = 3
# The processes of a killed postmaster end within moments; until then no new one can start.
_WORTH_ANOTHER_TRY = ("still in use", "another postmaster", "another server", "shutting down")


@dataclass(frozen=True)
class _Postmaster:
    """The contents of a server's postmaster.pid."""

    pid: int
    port: int
    socket_folder: Path
    status: str

    @classmethod
    def read(cls, data: Path) -> "_Postmaster | None":
        """Read the file; None if it is missing or incomplete.

        It names the folders at the start. If the home was moved since, the socket moved along. In a copy of a
        home they are those of the original, whose server is another one.
        """
        with suppress(OSError, ValueError):
            lines = (data / "postmaster.pid").read_text("utf-8", "surrogateescape").splitlines()
            if len(lines) >= 8:
                started_in, socket_folder = Path(lines[1]), Path(lines[4])
                if socket_folder == started_in:
                    socket_folder = data
                elif started_in != data.resolve():
                    return None
                return cls(int(lines[0]), int(lines[3]), socket_folder, lines[7].strip())
        return None

    def is_ready(self) -> bool:
        return self.status == "ready" and self._is_answering()

    def _is_answering(self) -> bool:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(1)
            try:
                client.connect(str(self.socket_folder / f".s.PGSQL.{self.port}"))
            except (BlockingIOError, TimeoutError):
                # Only a living server has a full queue.
                return True
            except OSError:
                return False
            return True


@dataclass(frozen=True)
class EmbeddedPostgres:
    """The server of one garden home."""

    home: Home
    notice: Callable[[str], None] = log_notice
    """Reports what a start as root changes outside the home."""

    @property
    def cluster(self) -> Cluster:
        """The server's database folder."""
        return Cluster(self.home.state / "postgres")

    def url(self) -> str | None:
        """The address of the running server, or None."""
        postmaster = _Postmaster.read(self.cluster.data)
        if postmaster is None or not postmaster.is_ready():
            return None
        folder = quote(os.fsencode(postmaster.socket_folder), safe="")
        return f"postgresql://{SUPERUSER}@/{DATABASE}?host={folder}&port={postmaster.port}"

    def ensure_running(self) -> str:
        """Start the server if it is not running; returns its address."""
        url = self.url()
        if url is not None:
            return url
        with self._lock() as lock:
            return self._start(lock)

    def revive(self) -> bool:
        """Start a server again that died; returns whether it did and now runs.

        A server that was stopped stays so, since its folder may just be copied.
        """
        if not self._has_died():
            return False
        try:
            with self._lock() as lock:
                if self._has_died():
                    self._start(lock)
        except GardenError as error:
            get_logger("garden.embedded").error(
                "the embedded Postgres died and can't be started", reason=error.message
            )
            return False
        return self.url() is not None

    def stop(self, *, immediately: bool = False) -> bool:
        """Stop the server; False if none was running.

        Running transactions are rolled back; with `immediately` they end as in a crash.
        """
        with self._lock():
            if not self.cluster.exists or not self._is_coming_up():
                return False
            done = self._control(self._programs(), "stop", "-m", "immediate" if immediately else "fast")
            if done.returncode != 0 and self._is_coming_up():
                raise EmbeddedPostgresError(
                    f"The embedded Postgres did not stop: {done.stdout.strip()}", hint="Try again."
                )
            self.cluster.remove_socket_folder()
            return True

    def foreign_account(self) -> tuple[Account, list[Path]] | None:
        """The server's account if it is not the caller's, and the folders outside the home it may pass."""
        if not self.cluster.exists or (account := choose_account(self.cluster.data)).uid == os.geteuid():
            return None
        programs = find_programs(account, self.cluster.major()).folder
        found = granted_folders(account, (self.cluster.data, programs))
        return account, [folder for folder in found if not folder.is_relative_to(self.home.path)]

    def take_back(self) -> list[Path]:
        """Take back the server's account's way into folders outside the home; a start needs it."""
        if (found := self.foreign_account()) is None:
            return []
        account, folders = found
        for folder in folders:
            take_back(account, folder)
        return folders

    def _lock(self) -> AbstractContextManager[int]:
        return exclusive_lock(self.home.state / "postgres.lock", timeout_seconds=_SECONDS_MAX * 2)

    def _programs(self) -> Programs:
        account = choose_account(self.cluster.data, self.notice)
        programs = find_programs(account, self.cluster.major())
        if account.uid != os.geteuid():
            open_programs(account, programs.folder.parent, self.notice)
            let_pass(account, self.cluster.data, self.home.path, self.notice)
        return programs

    def _start(self, lock: int) -> str:
        """Start the server and clear what an earlier attempt left; the caller holds the lock."""
        programs = self._programs()
        if not self.cluster.exists:
            self.cluster.create(programs, lock)
        deadline = time.monotonic() + _SECONDS_MAX
        patience = time.monotonic() + _UNREACHABLE_SECONDS_MAX
        while time.monotonic() < deadline:
            url = self.url()
            if url is not None:
                return url
            if not self._is_coming_up():
                self._launch(programs)
                patience = time.monotonic() + _UNREACHABLE_SECONDS_MAX
            elif time.monotonic() > patience and self._is_unreachable():
                self._control(programs, "stop", "-m", "fast")
            time.sleep(_POLL_SECONDS)
        log = self.cluster.log_since(0)
        raise EmbeddedPostgresError(
            f"The embedded Postgres was not ready within {_SECONDS_MAX} seconds.\n{log}",
            hint="It may be recovering from a crash: try again in a minute.",
        )

    def _control(self, programs: Programs, *words: str) -> subprocess.CompletedProcess[str]:
        """Run pg_ctl in the data folder: it passes paths to a shell, and "." needs no quoting."""
        return programs.run(
            "pg_ctl", *words, "-D", ".", "-w", "-t", str(_SECONDS_MAX), folder=self.cluster.data
        )

    def _is_coming_up(self) -> bool:
        """Whether a living server is starting or stopping; a misleading pid file is removed.

        After a crash the file may be empty, or the number in it may be another process's. Postgres would then
        refuse to start, forever or until that process ends. A file that names no living process stays, since
        it tells Postgres what the dead server left in shared memory.
        """
        import psutil

        pid_file = self.cluster.data / "postmaster.pid"
        try:
            pid = int(pid_file.read_text("utf-8").split("\n", 1)[0])
        except FileNotFoundError:
            return False
        except ValueError:
            if any(_is_server_of(pid, self.cluster.data) for pid in psutil.pids()):
                return True
            pid_file.unlink(missing_ok=True)
            return False
        if _is_server_of(pid, self.cluster.data):
            return True
        if psutil.pid_exists(pid):
            pid_file.unlink(missing_ok=True)
        return False

    def _has_died(self) -> bool:
        """Whether the pid file names a dead server; stopping a server removes the file."""
        postmaster = _Postmaster.read(self.cluster.data)
        return postmaster is not None and not _is_server_of(postmaster.pid, self.cluster.data)

    def _is_unreachable(self) -> bool:
        """Whether the server is up but can't be reached, because its socket is gone."""
        postmaster = _Postmaster.read(self.cluster.data)
        if postmaster is not None:
            return postmaster.status == "ready" and not postmaster.is_ready()
        return True

    def _launch(self, programs: Programs) -> None:
        self.cluster.configure(programs.account)
        log_start = self.cluster.log_bytes()
        done = self._control(programs, "start", "-l", "server.log")
        killed = done.returncode < 0
        log = self.cluster.log_since(log_start) or done.stdout.strip()
        if done.returncode == 0 or killed or any(sign in log for sign in _WORTH_ANOTHER_TRY):
            return
        raise EmbeddedPostgresError(f"The embedded Postgres could not be started.\n{log}", hint=_hint(log))


def _is_server_of(pid: int, data: Path) -> bool:
    # A server that answers is found without it, and it takes a while to load.
    import psutil

    try:
        return Path(psutil.Process(pid).cwd()) == data.resolve()
    except (psutil.Error, OSError):
        return False


def _hint(log: str) -> str:
    if "No space left" in log:
        return "The disk is full: free some space."
    if "Permission denied" in log or "could not access" in log:
        return "Check that the home's .garden/postgres folder belongs to the user who runs the server."
    if "shared memory" in log:
        return "The machine's limits on shared memory are too low for Postgres."
    return "The whole log is .garden/postgres/server.log in the garden home."
