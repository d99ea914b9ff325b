"""Setting a client up and taking that back: planned as a change of one file, then made in one step."""

import stat
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from garden.clients.forms import Entry, SettingsForm, UnreadableSettingsError
from garden.clients.known import CLIENTS, Client
from garden.grammar.errors import GardenError
from garden.home.state_files import sync_folder, write_private_file

NAME = "memory-garden"
_BY_HAND = "Mend the file, or add the entry by hand as docs/mcp.md shows."


class ClientError(GardenError):
    """The settings of this client can't be changed as they are."""

    code = "invalid_input"


class ClientMissingError(ClientError):
    """This account has not used the client."""

    code = "not_found"


@dataclass(frozen=True)
class Change:
    """A settings file before and after, and what its backup then holds; None is no file."""

    form: SettingsForm
    path: Path
    before: bytes | None
    after: bytes | None
    original: bytes | None

    @property
    def backup(self) -> Path:
        """The file that keeps the settings as they were."""
        return _backup_of(self.path)

    def diff(self) -> str:
        """The change of the entry, as if it were alone in the file: what else is there may be secret."""
        before, after = (
            self._entry_alone(each).splitlines(keepends=True) for each in (self.before, self.after)
        )
        return "".join(unified_diff(before, after, str(self.path), str(self.path), n=0))

    def _entry_alone(self, content: bytes | None) -> str:
        entry = self.form.servers((content or b"").decode()).get(NAME)
        return self.form.put("", NAME, entry) if isinstance(entry, dict) else ""


def make_entry(name: str, program: Sequence[str], user: str, home: Path, profile: str | None) -> Entry:
    """The entry of a client, which starts `program` for one user's garden."""
    command, *words = program
    args = [*words, "mcp", "--user", user, "--actor", name]
    entry = {"command": command, "args": args, "env": {"GARDEN_HOME": str(home)}}
    if profile is not None:
        args += ["--profile", profile]
    return {"type": "stdio", **entry} if CLIENTS[name].names_type else entry


def plan_setup(client: Client, entry: Entry) -> Change:
    """Plan to put the entry in; a file that has it stays as it is."""
    path, before, backup = _read(client)
    text = _decode(client, path, before)
    old = client.form.servers(text).get(NAME)
    if isinstance(old, dict) and old | {**entry} == old:
        return Change(client.form, path, before, before, backup)
    # A second setup keeps the backup of the first, which is empty where there was no file.
    original = backup if old is not None and backup is not None else before or b""
    return Change(client.form, path, before, _put(client, path, text, entry), original)


def plan_undo(client: Client) -> Change:
    """Plan to take the entry out: back to the backup, or only the entry if the file was changed since."""
    path, before, backup = _read(client)
    text = _decode(client, path, before)
    entry = client.form.servers(text).get(NAME)
    if entry is None:
        return Change(client.form, path, before, before, backup)
    if backup is None:
        return Change(client.form, path, before, _put(client, path, text, None), None)
    old = _decode(client, _backup_of(path), backup)
    if _put(client, path, old, entry) == before:
        return Change(client.form, path, before, backup or None, None)
    earlier = client.form.servers(old).get(NAME)
    return Change(client.form, path, before, _put(client, path, text, earlier), None)


def make_change(change: Change) -> None:
    """Write the planned file in one step, after its backup; a file changed since is refused."""
    if _bytes_of(change.path) != change.before:
        raise ClientError(f"{change.path} has just been changed by a program.", hint="Run the command again.")
    change.path.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(change.path.stat().st_mode) if change.before is not None else 0o600
    if change.original is not None:
        write_private_file(change.backup, change.original)
    if change.after is None:
        change.path.unlink()
    else:
        write_private_file(change.path, change.after)
        change.path.chmod(mode)
    if change.original is None:
        change.backup.unlink(missing_ok=True)
    sync_folder(change.path.parent)


def _read(client: Client) -> tuple[Path, bytes | None, bytes | None]:
    path = client.file()
    if not client.folder().is_dir() and not path.exists():
        raise ClientMissingError(
            f"{client.title} is not here: there is no {client.folder()}.",
            hint=f"Install {client.title}, start it once, and run this again.",
        )
    for each in (path, _backup_of(path)):
        if each.is_symlink() or (each.exists() and not each.is_file()):
            raise ClientError(f"{each} is a link or no file, and stays as it is.", hint=_BY_HAND)
    if path.exists() and path.stat().st_uid != path.parent.stat().st_uid:
        # A new file would belong to the folder's owner.
        raise ClientError(f"{path} and its folder belong to different accounts.", hint=_BY_HAND)
    return path, _bytes_of(path), _bytes_of(_backup_of(path))


def _backup_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.before-{NAME}")


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ClientError(f"{path} can't be read: {error.strerror}.", hint="Check its permissions.") from None


def _decode(client: Client, path: Path, content: bytes | None) -> str:
    try:
        text = (content or b"").decode()
        client.form.servers(text)
    except UnicodeDecodeError:
        raise ClientError(f"{path} is not text in UTF-8.", hint=_BY_HAND) from None
    except UnreadableSettingsError as error:
        raise _refusal(path, error) from None
    return text


def _put(client: Client, path: Path, text: str, entry: Entry | None) -> bytes:
    try:
        return client.form.put(text, NAME, entry).encode()
    except (UnreadableSettingsError, UnicodeEncodeError) as error:
        raise _refusal(path, error) from None


def _refusal(path: Path, reason: Exception) -> ClientError:
    return ClientError(f"{path} stays as it is: {reason}.", hint=_BY_HAND)
