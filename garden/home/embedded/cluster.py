"""The database folder: created in one step, and configured before each start."""

import os
import secrets
import shutil
import tempfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from garden.home import platform_features
from garden.home.embedded.account import Account, EmbeddedPostgresError
from garden.home.embedded.programs import Programs
from garden.home.state_files import sync_folder, write_private_file

DATABASE = "garden"
SUPERUSER = "postgres"
PORT = 5432
_SOCKET_NAME = f".s.PGSQL.{PORT}"
# The kernel's limit is 108 bytes with the final NUL on Linux, and 104 on macOS.
_SOCKET_PATH_BYTES_MAX = 103
_UNFIT_BYTES = {*b',"', *range(0x20), *range(0x7F, 0x100)}
_LOG_BYTES_MAX = 4 * 1024 * 1024
# An update of the operating system can't change this collation.
_INITDB = ("-U", SUPERUSER, "-E", "UTF8", "--auth=peer", "--locale=C",
           "--locale-provider=builtin", "--builtin-locale=C.UTF-8")  # fmt: skip

_CONFIGURATION = """\
# Written before each start; put settings of your own into postgresql.conf or use ALTER SYSTEM.
listen_addresses = ''
port = {port}
unix_socket_directories = {socket_folder}
unix_socket_permissions = 0700
# A process of the service has up to 25.
max_connections = 300
# The rows of much-edited documents leave dead ones behind, which the next edit has to step over.
autovacuum_naptime = 15s
timezone = 'UTC'
log_timezone = 'UTC'
log_line_prefix = '%m [%p] '
log_checkpoints = off
# No row, parameter or statement gets into the log: they hold people's words.
log_error_verbosity = terse
log_min_error_statement = panic
log_parameter_max_length = 0
log_parameter_max_length_on_error = 0
{wal_sync}# A recycled segment of the write-ahead log would keep erased words until it is overwritten.
wal_recycle = off
"""
# On macOS the default leaves commits in the drive's cache.
_FULL_SYNC = "wal_sync_method = fsync_writethrough\n"


@dataclass(frozen=True)
class Cluster:
    """The folder of one embedded database."""

    data: Path

    @property
    def exists(self) -> bool:
        """Whether the folder exists; one rename creates it, complete."""
        return self.data.exists()

    @property
    def log(self) -> Path:
        """The server's log."""
        return self.data / "server.log"

    def major(self) -> int | None:
        """The PostgreSQL version of the folder, if it exists."""
        if not self.exists:
            return None
        try:
            return int((self.data / "PG_VERSION").read_text("ascii"))
        except (OSError, ValueError):
            raise EmbeddedPostgresError(
                f"{self.data} is not a database folder: its PG_VERSION is missing or damaged.",
                hint="Put the folder back from a backup.",
            ) from None

    def create(self, programs: Programs, lock: int) -> None:
        """Create the folder under another name, then rename it; a killed attempt leaves only a stray.

        The programs inherit the lock, so the next attempt waits for an orphaned one.
        """
        self._remove_strays()
        fresh = self.data.with_name(f"{self.data.name}.new-{secrets.token_hex(4)}")
        fresh.mkdir(mode=0o700)
        os.chown(fresh, programs.account.uid, programs.account.gid)
        try:
            self._initialise(programs, fresh, lock)
            fresh.rename(self.data)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        sync_folder(self.data.parent)

    def configure(self, account: Account) -> None:
        """Write the configuration for the folder's current path and the accounts that may connect.

        The files of an earlier socket are removed. Their lock may name an unrelated process, or, in a copy of
        a home, the server of the original, and Postgres would wait for that process to end.
        """
        socket_folder = self._socket_folder(account)
        for name in (_SOCKET_NAME, f"{_SOCKET_NAME}.lock"):
            (socket_folder / name).unlink(missing_ok=True)
        callers = sorted({account.name, "root"})
        self._write("pg_hba.conf", "local all all peer map=garden\n", account)
        self._write("pg_ident.conf", "".join(f'garden "{name}" all\n' for name in callers), account)
        self._write(
            "garden.conf",
            _CONFIGURATION.format(
                port=PORT,
                socket_folder=_quote(f'"{socket_folder}"'),
                wal_sync="" if platform_features.FULL_SYNC is None else _FULL_SYNC,
            ),
            account,
        )
        if self.log.exists() and self.log.stat().st_size > _LOG_BYTES_MAX:
            self.log.replace(self.log.with_suffix(".log.old"))

    def log_bytes(self) -> int:
        """The current length of the log; `log_since` reads on from there."""
        return self.log.stat().st_size if self.log.exists() else 0

    def log_since(self, start: int, lines_max: int = 8) -> str:
        """The last lines that the log has gained since it had this length."""
        try:
            with self.log.open("rb") as file:
                file.seek(start)
                return "\n".join(file.read().decode("utf-8", "replace").splitlines()[-lines_max:])
        except OSError:
            return ""

    def _initialise(self, programs: Programs, folder: Path, lock: int) -> None:
        steps: tuple[tuple[str, tuple[str | Path, ...], str], ...] = (
            ("initdb", (*_INITDB, "-D", folder), ""),
            ("postgres", ("--single", "-D", folder, "postgres"), f"create database {DATABASE};\n"),
        )
        for program, arguments, sql in steps:
            done = programs.run(program, *arguments, stdin=sql, keep_open=[lock])
            if done.returncode != 0:
                raise EmbeddedPostgresError(
                    f"The database folder could not be made ({program} failed):\n{done.stdout.strip()}",
                    hint="Look for a full disk or missing permissions.",
                )
        with (folder / "postgresql.conf").open("a", encoding="utf-8") as configuration:
            configuration.write("include 'garden.conf'\n")

    def _remove_strays(self) -> None:
        for stray in self.data.parent.glob(f"{self.data.name}.new-*"):
            shutil.rmtree(stray, ignore_errors=True)

    def remove_socket_folder(self) -> None:
        """Remove the socket's folder if it is outside the home."""
        if self._distant_socket_folder.exists():
            self._distant_socket_folder.rmdir()

    @property
    def _is_fit_for_a_socket(self) -> bool:
        """Whether the folder can hold the socket; clients end a path at a comma, for one."""
        path = os.fsencode(self.data / _SOCKET_NAME)
        return len(path) <= _SOCKET_PATH_BYTES_MAX and not set(path) & _UNFIT_BYTES

    @property
    def _distant_socket_folder(self) -> Path:
        # Named after the path, since a copy of a home has the same id.
        name = sha256(os.fsencode(self.data.resolve())).hexdigest()[:24]
        return Path(tempfile.gettempdir()) / f"garden-{name}"

    def _socket_folder(self, account: Account) -> Path:
        if self._is_fit_for_a_socket:
            return self.data
        folder = self._distant_socket_folder
        if not folder.exists():
            folder.mkdir(mode=0o700)
            os.chown(folder, account.uid, account.gid)
        status = folder.lstat()
        if folder.is_symlink() or status.st_uid != account.uid or status.st_mode & 0o077:
            raise EmbeddedPostgresError(
                f"The socket's folder {folder} is not a private folder of the user {account.name}.",
                hint="Remove it, or move the garden home to a shorter path.",
            )
        return folder

    def _write(self, name: str, text: str, account: Account) -> None:
        write_private_file(self.data / name, os.fsencode(text))
        os.chown(self.data / name, account.uid, account.gid)


def _quote(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
