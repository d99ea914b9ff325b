"""Where the integrity keys are found: in the environment, or in the home's key file."""

from events.keyring import Keyring
from garden.home import Home
from garden.settings import Settings
from grammar.errors import GardenError


class KeysMissingError(GardenError):
    """The integrity keys are not where they should be."""

    code = "unavailable"


def load_keyring(settings: Settings, home: Home) -> Keyring:
    """Read the integrity keys."""
    if settings.integrity_keys is not None:
        return Keyring.parse(settings.integrity_keys.get_secret_value())
    try:
        return Keyring.parse(home.keys_file.read_text("ascii"))
    except (OSError, UnicodeDecodeError):
        raise KeysMissingError(
            "The integrity keys can't be read from .garden/keys.",
            hint="Put the file back from a backup, or set GARDEN_INTEGRITY_KEYS.",
        ) from None
