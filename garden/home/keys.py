"""The integrity keys: read from the environment or from the home's key file, and rotated."""

from garden.events.keyring import Keyring, KeyringError
from garden.grammar.errors import GardenError
from garden.home.folder import Home
from garden.home.settings import Settings
from garden.home.state_files import exclusive_lock, write_private_file


class KeysUnavailableError(GardenError):
    """The integrity keys can't be read, or can't be rotated from here."""

    code = "unavailable"


class KeySource:
    """Gives the current keys, so that a rotation reaches a running process."""

    def __init__(self, settings: Settings, home: Home) -> None:
        self._file = home.keys_file
        self._stamp: tuple[int, int] | None = None
        self._keyring: Keyring | None = None
        self._fixed = settings.integrity_keys is not None
        if settings.integrity_keys is not None:
            self._keyring = Keyring.parse(settings.integrity_keys.get_secret_value())

    def __call__(self) -> Keyring:
        """Give the keys, and read the file again if it was replaced."""
        if self._fixed and self._keyring is not None:
            return self._keyring
        try:
            # A replaced file has another inode; this check costs a microsecond or two.
            status = self._file.stat()
            stamp = (status.st_ino, status.st_mtime_ns)
            if self._keyring is None or stamp != self._stamp:
                self._keyring, self._stamp = Keyring.parse(self._file.read_text("ascii")), stamp
        except (OSError, UnicodeDecodeError):
            raise KeysUnavailableError(
                "The integrity keys can't be read from .garden/keys.",
                hint="Put the file back from a backup, or set GARDEN_INTEGRITY_KEYS.",
            ) from None
        except KeyringError as error:
            raise KeysUnavailableError(
                f"The integrity keys in .garden/keys are damaged: {error.message}",
                hint="Put the file back from a backup. Without these keys, their seals can't be verified.",
            ) from None
        return self._keyring


def rotate_keys(settings: Settings, home: Home) -> Keyring:
    """Add a new key that signs from now on; the older ones stay, to verify their seals."""
    if settings.integrity_keys is not None:
        raise KeysUnavailableError(
            "The integrity keys come from the settings (GARDEN_INTEGRITY_KEYS), which only you can change.",
            hint="Append ',VERSION:KEY' with a higher version to it, and restart the processes one by one.",
        )
    with exclusive_lock(home.state / "keys.lock", timeout_seconds=10):
        rotated = KeySource(settings, home)().with_new_key()
        write_private_file(home.keys_file, rotated.render().encode())
    return rotated
