"""What those who write tell the witness, and what its ledger says in the end; no part of the product."""

import json
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

REPOSITORY = Path(__file__).parents[2]

# A document's path, and the hash of its bytes.
Version = tuple[str, str]


def hash_of(content: bytes) -> str:
    """Hash a file's bytes as the account does."""
    return f"sha256:{sha256(content).hexdigest()}"


@dataclass(frozen=True)
class Request:
    """A request: its key, by which it can be told from all others, and the words that it brings."""

    key: str
    user_id: str
    tool: str
    args: dict[str, Any]
    words: str | None = None


@dataclass
class Told:
    """What the witness was told of one request."""

    request: Request
    asked: int = 0
    answer: dict[str, Any] | None = None
    refusal: dict[str, Any] | None = None

    @property
    def acknowledged(self) -> bool:
        return self.answer is not None


@dataclass
class Save:
    """A file that was about to be saved by hand: what its bytes hash to, and those before; whether it was."""

    content: str
    before: str
    done: bool = False


@dataclass
class ByHand:
    """What the witness was told of edits by hand.

    `saves` has them by the documents' paths, in their order. `saving` counts how often a document was about
    to hold something, `between` is what it holds only while it is being saved. `brought` are the words that
    were saved, each with the document's path.
    """

    saves: dict[str, list[Save]] = field(default_factory=dict)
    saving: Counter[Version] = field(default_factory=Counter)
    between: set[Version] = field(default_factory=set)
    brought: dict[str, str] = field(default_factory=dict)

    def take_saving(self, path: str, save: Save, between: Iterable[str] = ()) -> None:
        states = [(path, each) for each in between]
        self.saves.setdefault(path, []).append(save)
        self.saving.update([(path, save.content), *states])
        self.between.update(states)

    def take_saved(self, path: str, words: str | None = None) -> None:
        self.saves[path][-1].done = True
        if words is not None:
            self.brought[words] = path


@dataclass
class Ledger:
    """Everything that the witness was told: of requests, by their keys, and of edits by hand."""

    told: dict[str, Told] = field(default_factory=dict)
    by_hand: ByHand = field(default_factory=ByHand)
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
            request = Request(**word["request"])
            self.told.setdefault(request.key, Told(request)).asked += 1
        elif word["what"] == "acknowledged":
            self.told[word["key"]].answer = word["answer"]
        elif word["what"] == "refused":
            self.told[word["key"]].refusal = word["error"]
        elif word["what"] == "saving":
            save = Save(word["hash"], word["before"])
            self.by_hand.take_saving(word["path"], save, word["between"])
        elif word["what"] == "saved":
            self.by_hand.take_saved(word["path"], word["words"])

    def unanswered(self) -> list[Told]:
        return [each for each in self.told.values() if each.answer is None and each.refusal is None]

    def of_user(self, user_id: str) -> list[Told]:
        return [each for each in self.told.values() if each.request.user_id == user_id]


class WitnessClient:
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

    def asked(self, request: Request) -> None:
        self._tell(what="asked", request=asdict(request))

    def acknowledged(self, request: Request, answer: dict[str, Any]) -> None:
        self._tell(what="acknowledged", key=request.key, answer=answer)

    def refused(self, request: Request, error: dict[str, Any]) -> None:
        self._tell(what="refused", key=request.key, error=error)

    def left(self, request: Request) -> None:
        """Say that nobody will ask for this again."""
        self._tell(what="left", key=request.key)

    def saving(self, path: str, before: bytes, content: bytes, between: Iterable[bytes] = ()) -> None:
        """Say what a file held that is saved by hand, what it is to hold, and what it may hold meanwhile."""
        hashes = {"before": hash_of(before), "hash": hash_of(content)}
        self._tell(what="saving", path=path, **hashes, between=[hash_of(state) for state in between])

    def saved(self, path: str, words: str | None) -> None:
        """Say that a file was saved by hand as it was said last, with these words."""
        self._tell(what="saved", path=path, words=words)

    def unanswered(self) -> list[Request]:
        """Give what was asked in this name, and what nobody knows the end of."""
        return [Request(**each) for each in self._tell(what="open")]

    def _tell(self, **word: Any) -> Any:
        self._line.sendall(json.dumps({**word, "by": self._name}).encode() + b"\n")
        return json.loads(self._answers.readline())


@contextmanager
def run_witness(folder: Path) -> Iterator[tuple[str, Path]]:
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
