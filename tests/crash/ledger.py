"""The client of the witness, and its ledger; no part of the product."""

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
    """Hash a file's bytes as the events do."""
    return f"sha256:{sha256(content).hexdigest()}"


@dataclass(frozen=True)
class Request:
    """A request with its unique key, and the words that it adds."""

    key: str
    user_id: str
    tool: str
    args: dict[str, Any]
    words: str | None = None


@dataclass
class Told:
    """What the ledger holds about one request."""

    request: Request
    asked: int = 0
    answer: dict[str, Any] | None = None
    refusal: dict[str, Any] | None = None

    @property
    def acknowledged(self) -> bool:
        return self.answer is not None


@dataclass
class Save:
    """A save by hand: the hash of the new bytes, of those before, and whether it happened."""

    content: str
    before: str
    done: bool = False


@dataclass
class ByHand:
    """What the ledger holds about edits by hand.

    `saves` lists them by document, in order. `saving` counts how often a document was about to hold a
    version; `between` are versions that exist only during a save. `brought` maps saved words to documents.
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
    """The witness's record: requests by key, and edits by hand."""

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
    """One thread's connection to the witness; every record is on the disk when the call returns."""

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
        """Record that this request will not be sent again."""
        self._tell(what="left", key=request.key)

    def saving(self, path: str, before: bytes, content: bytes, between: Iterable[bytes] = ()) -> None:
        """Record a save by hand that is about to happen: old, new and intermediate contents."""
        hashes = {"before": hash_of(before), "hash": hash_of(content)}
        self._tell(what="saving", path=path, **hashes, between=[hash_of(state) for state in between])

    def saved(self, path: str, words: str | None) -> None:
        """Record that the last announced save happened, with these words."""
        self._tell(what="saved", path=path, words=words)

    def unanswered(self) -> list[Request]:
        """Return this client's requests whose outcome is unknown."""
        return [Request(**each) for each in self._tell(what="open")]

    def _tell(self, **word: Any) -> Any:
        self._line.sendall(json.dumps({**word, "by": self._name}).encode() + b"\n")
        return json.loads(self._answers.readline())


@contextmanager
def run_witness(folder: Path) -> Iterator[tuple[str, Path]]:
    """Run a witness; yield its address and the path of its ledger."""
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
