"""`memory.store` and `memory.forget`: one memory more or less in the overview or the notes."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar

from pydantic import Field, StrictBool, StrictInt, model_validator

from garden.events.recall_reader import FoundPassage
from garden.events.wire import Wire
from garden.files.paths import GardenPath
from garden.grammar.apply import apply
from garden.grammar.attributes import read_attributes, with_attributes, with_period
from garden.grammar.dated_entry import dated_entry, split_day
from garden.grammar.document import Document
from garden.grammar.edits import AppendItem, AppendToFile, CreateDocument, CurateList, Edit, WriteFile
from garden.grammar.refusals import (
    AlreadyExistsError,
    InvalidInputError,
    ItemNotFoundError,
    PatchConflictError,
)
from garden.home.local_day import today_in
from garden.passages.naming import parse_passage_id, passage_id
from garden.recall.memories import NamedPassage, full_words, is_same, named_passages, without
from garden.recall.periods import SummaryType, check_key
from garden.recall.query import CATEGORIES
from garden.tools.declaration import WRITERS, Call, Edits, Reply, Tool, Traits
from garden.tools.edits import carry_out, intent_of
from garden.tools.memory import Category
from garden.tools.request_paths import document_path
from garden.tools.wire import Line, Reason, WriteRequest, is_absent
from garden.writing.documents import GardenDocument, identity_for_new
from garden.writing.planner import Intent, Plan

_BARE_NAME = re.compile("[a-z2-7]{10}(~[0-9]{1,9})?")
_WORDS = re.compile(r"\w+")
_FIND = "memory.recall and memory.list give the ids of memories."
_KEPT = (
    "The history keeps these words; a maintainer removes them for good with garden.erase ('garden erase')."
)


class StoreRequest(WriteRequest):
    """The memory, and where it belongs."""

    rare: ClassVar[frozenset[str]] = frozenset({"chatId"})

    content: str = Field(min_length=1, max_length=10_000, description="The memory, in a sentence or two.")
    category: Category | None = Field(
        None,
        description="Its section of the overview; without one, the Inbox of the notes.",
    )
    tags: Annotated[tuple[Line, ...], Field(max_length=20)] = Field((), description="Such as sailing.")
    pursuing_priority: Annotated[StrictInt, Field(ge=0, le=100)] | None = Field(
        None, description="How much to pursue it."
    )
    summary_type: SummaryType | None = Field(None, description="For the summary of a period.")
    period_key: Line | None = Field(
        None,
        description="Its period: 2026-11-19, 2026-W47, 2026-11, 2026-Q4, 2026.",
    )
    chat_id: Line | None = Field(None, description="The conversation summarized.")
    insist: StrictBool = Field(False, description="Store it although it is known.")

    @model_validator(mode="after")
    def _fields_fit(self) -> "StoreRequest":
        if self.summary_type is None and (self.period_key or self.chat_id):
            raise ValueError("periodKey and chatId need a summaryType")
        if self.summary_type is not None and self.category is not None:
            raise ValueError("a summary has no category")
        if (self.summary_type == "conversation") != (self.chat_id is not None):
            raise ValueError("a summary of a conversation, and no other, needs a chatId")
        if self.chat_id and re.search(r"[\s()]", self.chat_id):
            raise ValueError("a chatId may have letters, digits and signs, but no space and no parenthesis")
        return self


class ForgetRequest(WriteRequest):
    """The memory to forget."""

    id: Annotated[str, Field(max_length=1000)] = Field(description="The memory's id, or the name at its end.")
    rationale: Reason = Field(min_length=1, description="Why; it is recorded.")


class Stored(Wire):
    """The memory's id and place; `alreadyKnown` is the text of the one that stood there already."""

    id: str
    path: str
    anchor: str
    already_known: str | None = Field(None, exclude_if=is_absent)


class Forgotten(Wire):
    """The place from which the memory was removed."""

    path: str
    anchor: str


@dataclass(frozen=True)
class Wish:
    """A memory to store: the id of its section's anchor, and the text of its item or entry.

    `own` is that text without the day that the store has set.
    """

    call: Call
    request: StoreRequest
    path: GardenPath
    section: str
    text: str
    own: str

    @property
    def edit(self) -> Edit:
        """The edit that adds it."""
        if self.section == "inbox":
            return AppendToFile(self.text)
        return CurateList(self.section, (AppendItem(self.text),))

    def known(self, document: Document) -> NamedPassage | None:
        """The passage of the section that says the same, or the summary of the same period."""
        section = next(
            (each for each in document.sections if each.anchor and each.anchor.id == self.section), None
        )
        naming, period = self.call.services.indexing.naming, read_attributes(self.text)[3:]
        words = [period[1].casefold()] if period[1] else full_words(self.own)
        for each in named_passages(document, section.name, naming, words) if section else ():
            text = each.text if self.own == self.text else split_day(each.text)[1]
            if read_attributes(each.text)[3:] == period if period[0] else is_same(text, self.own):
                return each
        return None

    def edit_under_lock(self, _version: int, found: GardenDocument | None) -> Edit:
        """The edit for the document found: none if it is known; a new document if there is none."""
        if found is None:
            kind = self.call.services.documents.kinds[str(self.path.kind)]
            new = apply(None, CreateDocument(kind, kind.title, identity_for_new(self.path))).after
            return WriteFile(apply(new, self.edit, kind=kind).text)
        known = None if self.request.insist else self.known(found.document)
        if known is None:
            return self.edit
        if self.request.summary_type is None or is_same(known.text, self.text):
            return WriteFile(found.text)
        raise AlreadyExistsError(
            f"The {self.request.summary_type} summary of {self.request.period_key} exists: {known.name}.",
            hint="Change that one, or send insist: true to store this one beside it.",
            details={**self._place(known.content.name, known.name), "text": known.text},
        )

    def result(self, plan: Plan) -> dict[str, Any]:
        """The place of the memory in the plan's document."""
        before, after = plan.applied.before, plan.applied.after
        known = self.known(before) if before and plan.unchanged else None
        if known is not None:
            return {**self._place(known.content.name, known.name), "alreadyKnown": known.text}
        changes, now = self.call.services.indexing.changes, datetime.now(UTC)
        # Rows that stood before may come again, for instance in another language.
        new = changes(self.path, after, before, 0, now).gone
        come = [row for row in changes(self.path, before, after, 0, now).come if row.passage in new]
        if len(come) != 1 or _WORDS.findall(come[0].text) != _WORDS.findall(self.text):
            raise PatchConflictError(
                "These words do not make one item or entry.",
                hint="Begin with a sentence and store one paragraph at a time, or use fs.append.",
            )
        return self._place(come[0].anchor, come[0].name)

    def left_out(self, known: str | None) -> Iterator[str]:
        """Warn of the attributes that the memory known already does not have."""
        new, old = read_attributes(self.text), read_attributes(known or "")
        tags = {tag.casefold() for tag in old.tags}
        names = [f"#{tag}" for tag in new.tags if tag.casefold() not in tags]
        if new.priority not in (None, old.priority):
            names.insert(0, f"priority {new.priority}")
        if known and names:
            yield (
                f"Not applied, since the memory stands already: {', '.join(names)}. Change that one with "
                "md.patch_section, or send insist: true to store this one beside it."
            )

    def _place(self, anchor: str, name: str) -> dict[str, Any]:
        path = self.path.text
        return {"id": passage_id(path, anchor, name), "path": path, "anchor": anchor}


def store(call: Call, request: StoreRequest) -> Reply:
    """Store a memory, or show the one that says the same."""
    wish = _wish(call, request)
    op = "append_file" if wish.section == "inbox" else "append_item"
    intent = intent_of(wish.path, "memory.store", request, wish.edit, op)
    reply = _carry_out(call, request, replace(intent, under_lock=wish.edit_under_lock), wish.result)
    left_out = wish.left_out(reply.result.get("alreadyKnown"))
    return replace(reply, warnings=(*reply.warnings, *left_out))


def _carry_out(call: Call, request: WriteRequest, intent: Intent, result: Callable[[Plan], Any]) -> Reply:
    edits: Edits[WriteRequest] = Edits(lambda *_: intent, result, needs_key=True)
    return carry_out(call, edits, intent.path, request)


def _wish(call: Call, request: StoreRequest) -> Wish:
    user, today = call.caller.user_id, today_in(call.services.timezone)
    tags = [tag.removeprefix("#") for tag in request.tags]
    text = with_attributes(request.content.strip(), tags, request.pursuing_priority)
    if request.category is not None:
        path = GardenPath.document_of(user, "overview")
        return Wish(call, request, path, CATEGORIES[request.category], text, text)
    notes = GardenPath.document_of(user, "notes")
    if request.summary_type is None:
        return Wish(call, request, notes, "inbox", dated_entry(text, today), text)
    check_key(request.summary_type, key := request.period_key or "", date.fromisoformat(today))
    text = with_period(text, request.summary_type, key, request.chat_id)
    return Wish(call, request, notes, "summaries", text, text)


def forget(call: Call, request: ForgetRequest) -> Reply:
    """Remove a memory from its document."""
    text, anchor, name = _find_place(call, request.id)
    path, indexing = document_path(call.caller, text), call.services.indexing
    # One that is gone is known by its last text.
    rows = call.services.memories.newest(call.caller.user_id, 1, name=name, paths=[path.text], gone=True)

    def edit(_version: int, found: GardenDocument | None) -> Edit:
        standing = named_passages(found.document, anchor, indexing.naming) if found else []
        target = next((each for each in standing if each.name == name), None)
        if found is None or target is None:
            raise _gone(path, anchor, rows, standing)
        return without(found.document, target)

    def result(plan: Plan) -> dict[str, Any]:
        versions, now = (plan.applied.before, plan.applied.after), datetime.now(UTC)
        stood, kept = (indexing.changes(path, None, each, 0, now).come for each in versions)
        texts = [(each.anchor, each.text) for each in stood if (each.anchor, each.name) != (anchor, name)]
        if texts != [(each.anchor, each.text) for each in kept]:
            raise PatchConflictError(
                "This passage can't be removed alone.", hint="Change its section with md.patch_section."
            )
        return {"path": path.text, "anchor": anchor}

    intent = intent_of(path, "memory.forget", request, WriteFile(""), "forget")
    reply = _carry_out(call, request, replace(intent, under_lock=edit), result)
    return replace(reply, warnings=(*reply.warnings, _KEPT))


def _find_place(call: Call, wanted: str) -> tuple[str, str, str]:
    """The path, anchor and name of an id, or of a name that only one passage has."""
    if not _BARE_NAME.fullmatch(wanted):
        return parse_passage_id(wanted)
    reader, user_id = call.services.memories, call.caller.user_id
    # One that is gone is looked for where it stood last.
    rows = reader.newest(user_id, 50, name=wanted) or reader.newest(user_id, 1, name=wanted, gone=True)
    if len(rows) > 1:
        ids = [passage_id(row.path, row.anchor, row.name) for row in rows]
        raise InvalidInputError(
            f"{len(ids)} memories have this name.", hint="Give the whole id of one.", details={"ids": ids}
        )
    if not rows:
        raise ItemNotFoundError("There is no such memory.", hint=_FIND)
    return rows[0].path, rows[0].anchor, rows[0].name


def _gone(
    path: GardenPath, anchor: str, rows: Sequence[FoundPassage], standing: Iterable[NamedPassage]
) -> ItemNotFoundError:
    texts = {each.text: each.name for each in standing}
    nearest = get_close_matches(rows[0].text, texts, 1, 0.3) if rows else []
    return ItemNotFoundError(
        "This memory is not in the garden any more." if rows else "There is no such memory.",
        hint="See the nearest one in the details." if nearest else _FIND,
        details={
            "nearest": [{"id": passage_id(path.text, anchor, texts[each]), "text": each} for each in nearest]
        },
    )


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "memory.store",
        "Store a memory",
        "Store a memory as an item of the overview, an entry of the notes, or a summary of a period.",
        "Tags and priority are written into the item: Wants to sail the Baltic (priority: 80) #sailing. The "
        "document is made if it is missing. A memory that stands in its section in the same words comes back "
        "as alreadyKnown and is not stored again, unless you insist; one that differs in a number, a name or "
        "a negation is stored beside it. The day of an entry counts only if you begin with one.",
        StoreRequest,
        Stored,
        store,
        Traits(writes=True, roles=WRITERS),
        {"content": "Wants to sail the Baltic", "category": "life-goal", "tags": ["sailing"]},
    ),
    Tool(
        "memory.forget",
        "Forget a memory",
        "Remove one memory from its document.",
        "A list item goes with what is nested in it. The history keeps the words; garden.erase removes them "
        "for good.",
        ForgetRequest,
        Forgotten,
        forget,
        Traits(writes=True, replaces=True, roles=WRITERS),
        {"id": "users/ada/overview.md#life_goals v1/abcdefghij", "rationale": "She changed her mind."},
    ),
)
