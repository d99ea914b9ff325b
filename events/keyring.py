"""The integrity keys: numbered secrets of which the highest signs and the older ones still verify.

No key signs by itself. Each purpose has a key of its own, derived with HKDF, so that a text sealed for one
purpose is never the message of another.
"""

import base64
import binascii
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from garden.events.encoding import encode
from garden.grammar.errors import GardenError

KEY_BYTES = 32
_ENTRY = re.compile(r"([1-9][0-9]{0,8}):([A-Za-z0-9_=-]+)")


class KeyringError(GardenError):
    """The integrity keys are malformed. The message never contains part of a key."""

    code = "invalid_input"


@dataclass(frozen=True, slots=True)
class Seal:
    """An HMAC, and the version of the key that made it."""

    mac: bytes
    version: int


class Keyring:
    """Keys by version; printing it shows versions, never bytes."""

    def __init__(self, keys: Mapping[int, bytes]) -> None:
        if not keys:
            raise KeyringError("There is no integrity key.", hint=_ACCEPTED)
        self._keys = MappingProxyType(dict(sorted(keys.items())))
        self._newest = max(keys)
        self._derived: dict[tuple[int, str], bytes] = {}

    @classmethod
    def generate(cls) -> "Keyring":
        """Make a keyring with one fresh key, version 1."""
        return cls({1: secrets.token_bytes(KEY_BYTES)})

    @classmethod
    def parse(cls, text: str) -> "Keyring":
        """Read `version:key` entries, separated by commas or white space."""
        keys: dict[int, bytes] = {}
        for position, entry in enumerate(re.split(r"[,\s]+", text.strip()), start=1):
            version, key = _parse_entry(entry, position)
            if version in keys:
                raise KeyringError(f"Integrity key version {version} is given twice.", hint=_ACCEPTED)
            keys[version] = key
        return cls(keys)

    def render(self) -> str:
        """Write the keyring as text that `parse` reads: one entry a line."""
        return "".join(
            f"{version}:{base64.urlsafe_b64encode(key).decode()}\n" for version, key in self._keys.items()
        )

    @property
    def versions(self) -> tuple[int, ...]:
        """The versions, lowest first; the last one signs."""
        return tuple(self._keys)

    def with_new_key(self) -> "Keyring":
        """A keyring with one more key, which signs from now on."""
        return Keyring({**self._keys, self.versions[-1] + 1: secrets.token_bytes(KEY_BYTES)})

    def seal(self, purpose: str, *values: object) -> Seal:
        """Sign values with the newest key; the seal is valid for this purpose only."""
        return self.seal_bytes(purpose, encode(values))

    def seal_bytes(self, purpose: str, data: bytes) -> Seal:
        """Sign bytes as they are with the newest key."""
        version = self._newest
        key = self._derived.get((version, purpose)) or self.derived_key(version, purpose)
        return Seal(hmac.digest(key, data, "sha256"), version)

    def has(self, version: int) -> bool:
        """Whether the keyring has the key of that version."""
        return version in self._keys

    def holds(self, seal: Seal, purpose: str, *values: object) -> bool:
        """Whether the seal covers these values for this purpose, compared in constant time."""
        return self.holds_bytes(seal, purpose, encode(values))

    def holds_bytes(self, seal: Seal, purpose: str, data: bytes) -> bool:
        """Whether the seal covers these bytes for this purpose, compared in constant time."""
        if seal.version not in self._keys:
            return False
        mac = hmac.digest(self.derived_key(seal.version, purpose), data, "sha256")
        return hmac.compare_digest(mac, bytes(seal.mac or b""))

    def derived_key(self, version: int, purpose: str) -> bytes:
        """The key of one purpose."""
        key = self._derived.get((version, purpose))
        if key is None:
            # Loaded here, for the commands that seal nothing.
            from cryptography.hazmat.primitives.hashes import SHA256
            from cryptography.hazmat.primitives.kdf.hkdf import HKDF

            info = f"memory-garden {purpose}".encode()
            derivation = HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info)
            key = derivation.derive(self._keys[version])
            self._derived[version, purpose] = key
        return key

    def __repr__(self) -> str:
        return f"Keyring(versions={self.versions})"


_ACCEPTED = (
    "Accepted: entries 'version:key' separated by commas or new lines, the key being "
    f"{KEY_BYTES} or more random bytes in URL-safe base64; for example: "
    'python3 -c "import base64, os; '
    f"print('1:' + base64.urlsafe_b64encode(os.urandom({KEY_BYTES})).decode())\""
)


def _parse_entry(entry: str, position: int) -> tuple[int, bytes]:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        raise KeyringError(
            f"Integrity key entry {position} is not of the form 'version:key'.", hint=_ACCEPTED
        )
    try:
        key = base64.b64decode(match[2], altchars=b"-_", validate=True)
    except binascii.Error:
        raise KeyringError(
            f"Integrity key entry {position} is not URL-safe base64.", hint=_ACCEPTED
        ) from None
    if len(key) < KEY_BYTES:
        raise KeyringError(
            f"Integrity key entry {position} is {len(key)} bytes long, too short to be safe.", hint=_ACCEPTED
        )
    return int(match[1]), key
