"""Erased text: no tool, restore or import brings it back, and no person's old copy is adopted."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from garden.events.erased_words import ErasedError, ErasedWords
from garden.events.idempotency import CALLERS_KEY, IdempotencyConflictError
from garden.events.payloads import NotePayload, strings_in
from garden.events.records import Event, Statement
from garden.events.stream import LockedStream
from garden.files.garden_files import FileText
from garden.grammar.canonical import decoded, encoded
from garden.grammar.edits import RestoreText, WriteFile
from garden.grammar.passages import runs_at
from garden.grammar.splice import Splices
from garden.grammar.values import Span
from garden.writing.planner import Plan

OLD_COPY = (
    "The file of this document is an old copy, from before words in it were erased. It stays as it is, and "
    "nothing of it was recorded."
)
ERASED_WORDS = "That edit holds words that were erased from this garden."


class OldCopyError(ErasedError):
    """A file is an old copy of a version that lost words."""


@dataclass(frozen=True)
class ErasedText:
    """Compares new text with a user's erased words; a user without any costs nothing."""

    words: ErasedWords

    def refuse_plan(self, stream: LockedStream, plan: Plan) -> None:
        """Refuse an edit that would bring erased words back, in the text or in its reason."""
        if not stream.has_erased:
            return
        user = stream.caller.user_id
        self.refuse_statement(stream, plan.statement({}))
        is_whole = isinstance(plan.intent.edit, WriteFile | RestoreText)
        if self._brings_words(user, plan.after.text, plan.applied.splices) or (
            is_whole and self.words.is_old_copy(user, plan.after.raw_hash)
        ):
            raise _refusal("The new text")

    def refuse_statement(self, stream: LockedStream, statement: Statement) -> None:
        """Refuse erased words in reasons, notes, names and ids, and requests whose answer is erased."""
        if not stream.has_erased:
            return
        self.refuse_lost_answer(stream)
        details = statement.edit.details if isinstance(statement.edit, NotePayload) else None
        said = (statement.rationale, statement.override_rationale, *statement.evidence_refs)
        texts = [*filter(None, (*said, *_names(stream, statement))), *strings_in(details)]
        self.refuse_words(stream.caller.user_id, texts)

    def refuse_words(self, user_id: str, texts: Iterable[str]) -> None:
        """Refuse words that were erased."""
        runs = (run for text in texts for run in runs_at(text, [Span(0, len(text))]))
        if self.words.contain(user_id, runs):
            raise _refusal("The request")

    def refuse_lost_answer(self, stream: LockedStream) -> None:
        """Refuse to carry out a request a second time because its answer is gone."""
        key = stream.request.key if stream.request else ""
        if key.startswith(CALLERS_KEY) and self.words.took_answer(stream.caller.user_id, key):
            raise IdempotencyConflictError(
                "A request with this idempotency key was carried out, and its answer is gone.",
                hint="Look which of its effects are there, and send what is missing with a new key.",
            )

    def refuse_old_copy(self, stream: LockedStream, file: FileText) -> None:
        """Refuse to adopt a file that a person put back as it was before words were erased from it."""
        if stream.has_erased and self.words.is_old_copy(stream.caller.user_id, file.hash):
            raise OldCopyError(
                OLD_COPY,
                hint="Its owner can delete it, or take the words out with any editor. A maintainer can erase "
                "them again with garden.erase ('garden erase').",
            )

    def is_in_edit(self, stream: LockedStream, text: str, splices: Splices) -> bool:
        """Whether an outside edit brought erased words."""
        return stream.has_erased and self._brings_words(stream.caller.user_id, text, splices)

    def _brings_words(self, user_id: str, text: str, splices: Splices) -> bool:
        return self.words.contain(user_id, runs_at(text, _places(text, splices)))


def has_erased_words(adopted: Event) -> bool:
    """Whether an outside edit was recorded as one that brought erased words."""
    return bool((adopted.statement.lint or {}).get("erased"))


def _places(text: str, splices: Splices) -> Iterator[Span]:
    """Where splices have changed a text, in characters."""
    data, moved = encoded(text), 0
    for splice in splices:
        start = len(decoded(data[: splice.offset + moved]))
        yield Span(start, start + len(splice.inserted))
        moved += len(encoded(splice.inserted))
        moved -= len(encoded(splice.removed))


def _names(stream: LockedStream, statement: Statement) -> Iterator[str | None]:
    """The names and ids that the caller chose."""
    caller, request = stream.caller, stream.request
    yield from (statement.type, statement.op, statement.section_anchor)
    yield from (caller.tool_call_id, caller.transaction_id, caller.agent_action_id)
    yield request.key if request else None


def _refusal(what: str) -> ErasedError:
    return ErasedError(
        f"{what} holds words that were erased, so nothing was written.",
        hint="Leave them out. If they must come back, their owner can write them into the file.",
    )
