"""What those who write tell the witness, and what its ledger says in the end; no part of the product."""

import json
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Wish:
    """A request: its key, by which it can be told from all others, and the words that it brings."""

    key: str
    user_id: str
    tool: str
    args: dict[str, Any]
    words: str | None = None


@dataclass
class Told:
    """What the witness was told of one request."""

    wish: Wish
    asked: int = 0
    answer: dict[str, Any] | None = None
    refusal: dict[str, Any] | None = None

    @property
    def acknowledged(self) -> bool:
        return self.answer is not None


@dataclass
class Ledger:
    """Everything that the witness was told, by the requests' keys; `outside` is what was written by hand."""

    told: dict[str, Told] = field(default_factory=dict)
    outside: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def read(cls, path: Path) -> "Ledger":
        ledger = cls()
        with path.open() as lines:
            for line in lines:
                ledger.take(json.loads(line))
        return ledger

    def take(self, word: dict[str, Any]) -> None:
        self.counts[word["what"]] += 1
        if word["what"] == "asked":
            wish = Wish(**word["wish"])
            self.told.setdefault(wish.key, Told(wish)).asked += 1
        elif word["what"] == "acknowledged":
            self.told[word["key"]].answer = word["answer"]
        elif word["what"] == "refused":
            self.told[word["key"]].refusal = word["error"]
        elif word["what"] == "saved":
            self.outside[word["key"]] = word["user"]

    def unheard(self) -> list[Told]:
        return [each for each in self.told.values() if each.answer is None and each.refusal is None]

    def of_user(self, user_id: str) -> list[Told]:
        return [each for each in self.told.values() if each.wish.user_id == user_id]


class Confidant:
    """A line to the witness, for one thread; what is told here is on the disk when the call returns."""

    def __init__(self, address: str, name: str) -> None:
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(address)
        self._answers = self._line.makefile("r")
        self._name = name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._answers.close()
        self._line.close()

    def asked(self, wish: Wish) -> None:
        self._tell(what="asked", wish=asdict(wish))

    def acknowledged(self, wish: Wish, answer: dict[str, Any]) -> None:
        self._tell(what="acknowledged", key=wish.key, answer=answer)

    def refused(self, wish: Wish, error: dict[str, Any]) -> None:
        self._tell(what="refused", key=wish.key, error=error)

    def left(self, wish: Wish) -> None:
        """Say that nobody will ask for this again."""
        self._tell(what="left", key=wish.key)

    def saved(self, user_id: str, words: str) -> None:
        """Say that a file was saved by hand."""
        self._tell(what="saved", key=words, user=user_id)

    def unheard(self) -> list[Wish]:
        """Give what was asked in this name, and what nobody knows the end of."""
        return [Wish(**each) for each in self._tell(what="open")]

    def _tell(self, **word: Any) -> Any:
        self._line.sendall(json.dumps({**word, "by": self._name}).encode() + b"\n")
        return json.loads(self._answers.readline())


@contextmanager
def witnessing(folder: Path) -> Iterator[tuple[str, Path]]:
    """Have a witness for as long as it is needed; gives its address, and where its ledger is."""
    address, ledger = str(folder / "w"), folder / "ledger"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.witness", address, str(ledger)],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield address, ledger
        finally:
            process.stdin.close()
            process.wait()
