"""What a maintainer asks to erase, checked."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from garden.events.erasures import ErasureKind
from garden.files.paths import GardenPath
from garden.grammar.errors import GardenError
from garden.grammar.passages import PassageFinder, shingles

PASSAGE_CHARACTERS_MAX = 100_000
_LETTERS_MIN = 3


class NothingToEraseError(GardenError):
    """The request does not say what to erase, or says too little."""

    code: ClassVar[str] = "invalid_input"


@dataclass(frozen=True)
class ErasureWish:
    """What to erase for one user: a passage, everywhere or in one document; a document; or everything."""

    reason: str
    path: GardenPath | None = None
    passage: str | None = None
    everything: bool = False

    def __post_init__(self) -> None:
        if self.everything == bool(self.path or self.passage):
            raise NothingToEraseError(
                "It must be clear what to erase.",
                hint="Give path for a document, text for a passage, both for a passage of one document, or "
                "everything alone for the whole user.",
            )
        if self.passage is not None:
            _check_passage(self.passage, self.reason)

    @property
    def kind(self) -> ErasureKind:
        """Whether a passage, a document or the user goes."""
        if self.everything:
            return ErasureKind.USER
        return ErasureKind.DOCUMENT if self.passage is None else ErasureKind.PASSAGE

    @cached_property
    def is_forgotten(self) -> bool:
        """Whether the passage is too short for a fingerprint, so that nothing keeps it from coming back."""
        return self.passage is not None and not shingles(self.passage)


def _check_passage(passage: str, reason: str) -> None:
    finder = PassageFinder(passage)
    if sum(map(str.isalnum, finder.folded)) < _LETTERS_MIN or len(passage) > PASSAGE_CHARACTERS_MAX:
        raise NothingToEraseError(
            f"The text to erase needs {_LETTERS_MIN} letters or digits, and at most "
            f"{PASSAGE_CHARACTERS_MAX} characters.",
            hint="Give more of the text around it, or erase the document.",
        )
    if finder.find(reason):
        raise NothingToEraseError(
            "The reason repeats the text to erase, and the reason is kept.", hint="Give a reason without it."
        )
