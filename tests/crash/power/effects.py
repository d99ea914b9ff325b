"""The effects of a process on files and events, in order.

Files and folders go by labels and not by paths: a path may lead elsewhere tomorrow.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self

USER = "USER"
ROOTS = ("users", "history")
HOME = "home"


class What(StrEnum):
    CREATE = "create"
    MAKE_FOLDER = "make folder"
    LINK = "link"
    RENAME = "rename"
    EXCHANGE = "exchange"
    UNLINK = "unlink"
    WRITE = "write"
    SYNC = "sync"
    DATABASE = "database"
    CONFIRMED = "confirmed"
    ANSWER = "answer"


# The effects that change names in a folder.
NAMING = frozenset({What.CREATE, What.MAKE_FOLDER, What.LINK, What.RENAME, What.EXCHANGE, What.UNLINK})


@dataclass(frozen=True)
class Effect:
    """One effect; `node` is the file or folder that it concerns, `number` the kernel's own for a new one.

    A database step is sent and later confirmed; in between the process may go on.

    `other` is the file that has the old name after an exchange.

    `place` names the line of the product that asked for a sync.
    """

    what: What
    node: str = ""
    folder: str = ""
    name: str = ""
    old_folder: str = ""
    old_name: str = ""
    data: bytes = b""
    place: str = ""
    number: int = 0
    other: str = ""

    @property
    def shape(self) -> tuple[str, ...]:
        """The part that is the same in two runs of one request; names and texts hold different ids."""
        step = self.name if self.what in {What.DATABASE, What.CONFIRMED, What.ANSWER} else ""
        return self.what, self.node, self.folder, self.old_folder, step

    def as_told(self, user: str) -> dict[str, Any]:
        """Encode it for the pipe, with one name for every user's folder."""
        told = asdict(self) | {"data": self.data.decode("latin-1")}
        return told | {"name": USER} if self.folder in ROOTS and self.name == user else told

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        return cls(**{**told, "what": What(told["what"]), "data": told["data"].encode("latin-1")})

    def __str__(self) -> str:
        match self.what:
            case What.WRITE | What.SYNC:
                return f"{self.what} {self.node}"
            case What.DATABASE | What.CONFIRMED | What.ANSWER:
                return f"{self.what} {self.name}"
            case What.RENAME | What.EXCHANGE:
                return f"{self.what} {self.old_folder}/{self.old_name} to {self.folder}/{self.name}"
            case _:
                return f"{self.what} {self.folder}/{self.name}"


def database_steps(effects: Sequence[Effect]) -> list[int]:
    """The positions of the database steps."""
    return [index for index, effect in enumerate(effects) if effect.what is What.DATABASE]
