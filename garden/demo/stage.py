"""Where the demonstration is shown, and where it is kept in mind whether all was as told."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

Envelope = Mapping[str, Any]


class Audience(Protocol):
    """Who watches: a terminal, most likely."""

    def scene(self, title: str) -> None:
        """See what comes next."""

    def step(self, told: str, *, held: bool) -> None:
        """See something done, and whether it went as told."""

    def text(self, text: str) -> None:
        """See some lines as they are."""

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """See rows in columns."""


class Stage:
    """Passes on what happens, and remembers whether everything went as told."""

    def __init__(self, audience: Audience) -> None:
        self.audience = audience
        self.all_held = True

    def scene(self, title: str) -> None:
        """Begin the next part."""
        self.audience.scene(title)

    def expect(self, told: str, held: bool) -> None:
        """Tell something that must be so."""
        self.all_held = self.all_held and held
        self.audience.step(told, held=held)

    def accepted(self, told: str, answer: Envelope) -> Any:
        """Expect success, and give the result."""
        self.expect(told if answer["ok"] else f"{told}: {answer['error']['message']}", bool(answer["ok"]))
        return answer.get("result")

    def refused(self, told: str, answer: Envelope, code: str) -> None:
        """Expect a refusal with this code."""
        found = "was done" if answer["ok"] else answer["error"]["code"]
        self.expect(f"{told} → {found}", found == code)
