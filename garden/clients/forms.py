"""What the forms of settings files have in common: entries are put in or taken out, and checked."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Entry = Mapping[str, Any]


class UnreadableSettingsError(Exception):
    """The text of a settings file is not what its client reads; the words say why."""


@dataclass(frozen=True)
class SettingsForm(ABC):
    """A form of settings file, with the table of its servers."""

    table: str

    @abstractmethod
    def parse(self, text: str) -> Any:
        """Parse the file's text; raises ValueError or RecursionError where it is malformed."""

    @abstractmethod
    def edit(self, text: str, name: str, entry: Entry | None) -> str:
        """Text with the entry of this name, or without it if there is none to put; not checked."""

    def servers(self, text: str) -> dict[str, Any]:
        """The entries of all servers."""
        servers, _ = self._read(text)
        return servers

    def put(self, text: str, name: str, entry: Entry | None) -> str:
        """Text with the entry, or without it, and with the same meaning everywhere else."""
        servers, others = self._read(text)
        after = self.edit(text, name, entry)
        expected = {key: value for key, value in servers.items() if key != name}
        if entry is not None:
            expected[name] = entry
        try:
            holds = self._read(after) == (expected, others)
        except UnreadableSettingsError:
            holds = False
        if not holds:
            raise UnreadableSettingsError("the entry can't be changed without a change elsewhere")
        return after

    def _read(self, text: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """The table of the servers, and all the rest."""
        try:
            value = self.parse(text)
        except (ValueError, RecursionError) as error:
            raise UnreadableSettingsError(f"it can't be read: {error}") from None
        if not isinstance(value, dict) or not isinstance(value.get(self.table, {}), dict):
            raise UnreadableSettingsError(f"it has no table {self.table!r}, and none can be added")
        return value.pop(self.table, {}), value
