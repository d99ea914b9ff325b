"""LangGraph's store on a garden: every item is a document that a person can read, with its exact value.

    from garden.integrations.langgraph import GardenStore

    graph = builder.compile(store=GardenStore("ada"))

An item is at `memories/store/{namespace}/{key}.md`. A namespace or key that is no file name gets one with a
hash of it; the names themselves are in the document.
"""

import json
import operator
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from garden.grammar.errors import GardenError
from garden.integrations.documents import change_text, text_or_nothing, unless_missing
from garden.integrations.naming import document_name
from garden.integrations.opening import Adapter, UserGarden, missing_extra

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        validate_op_namespace,
    )
except ModuleNotFoundError as missing:
    raise missing_extra("langgraph", missing) from None

if TYPE_CHECKING:
    from garden.application import Garden

NUL = "\0"
_HEAD, _VALUE = "<!-- item ", "<!-- value "
_ORDERS = {"$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le}
_RECALLED_MAX = 50


class BrokenItemError(GardenError):
    """The document of an item has no value that can be read."""

    code = "unavailable"


@dataclass(frozen=True)
class _Head:
    """The first line of an item's document: all but its value."""

    path: str
    namespace: tuple[str, ...]
    key: str
    created_at: datetime
    updated_at: datetime
    ttl_minutes: float | None = None
    expires_at: datetime | None = None

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= _now()

    def refreshed(self) -> "_Head":
        if self.ttl_minutes is None:
            return replace(self, expires_at=None)
        return replace(self, expires_at=_now() + timedelta(minutes=self.ttl_minutes))

    def line(self) -> str:
        fields = {name: _time_text(value) for name, value in vars(self).items() if name != "path"}
        return f"{_HEAD}{_json(fields)} -->"


@dataclass(frozen=True)
class _Stored:
    head: _Head
    value: dict[str, Any]


class GardenStore(Adapter, BaseStore):
    """A LangGraph store in one user's garden; `query` searches by words and meaning, without an embedder.

    `ttl` sets defaults as for LangGraph's own stores. An expired item is never returned; `sweep_ttl` archives
    those items. Refreshing an item on read is a write.
    """

    supports_ttl = True

    def __init__(
        self,
        user: str = "me",
        *,
        home: str | Path | None = None,
        actor: str = "langgraph",
        garden: "Garden | None" = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        super().__init__()
        self.opening = UserGarden(user, actor=actor, home=home, garden=garden)
        self.ttl_config = ttl
        self._root = f"users/{user}/memories/store"

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations: reads see the store as before the writes; of two writes the last counts."""
        asked = list(ops)
        for each in asked:
            validate_op_namespace(each)
        results = [None if isinstance(each, PutOp) else self._answer(each) for each in asked]
        puts = {(each.namespace, each.key): each for each in asked if isinstance(each, PutOp)}
        for put in puts.values():
            self._put(put)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations in a worker thread."""
        return await self.opening.run(partial(self.batch, list(ops)))

    def sweep_ttl(self) -> int:
        """Archive expired items, and count them."""
        return sum(self._expire(head.path) for head in [*self._heads()] if head.is_expired)

    def _answer(self, op: GetOp | SearchOp | ListNamespacesOp) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise ValueError(f"Unknown operation: {op!r}")

    def _get(self, op: GetOp) -> Item | None:
        stored = self._read(self._path(op.namespace, op.key))
        if stored is None or stored.head.is_expired:
            return None
        if op.refresh_ttl:
            self._refresh(stored)
        head = stored.head
        return Item(
            value=stored.value,
            key=head.key,
            namespace=head.namespace,
            created_at=head.created_at,
            updated_at=head.updated_at,
        )

    def _search(self, op: SearchOp) -> list[SearchItem]:
        depth = len(op.namespace_prefix)
        heads = [head for head in self._live() if head.namespace[:depth] == tuple(op.namespace_prefix)]
        scores = self._scores(op.query, heads) if op.query and heads else None
        if scores is None:
            heads.sort(key=lambda head: head.updated_at, reverse=True)
        else:
            heads = sorted(
                (head for head in heads if head.path in scores), key=lambda head: -scores[head.path]
            )
        found = self._matching(heads, op.filter or {})
        shown = list(islice(found, op.offset, op.offset + op.limit))
        if op.refresh_ttl:
            for each in shown:
                self._refresh(each)
        return [_search_item(each, scores) for each in shown]

    def _matching(self, heads: list[_Head], wanted: Mapping[str, Any]) -> Iterator[_Stored]:
        for head in heads:
            stored = self._read(head.path)
            if stored is not None and all(_matches(stored.value.get(name), wanted[name]) for name in wanted):
                yield stored

    def _scores(self, query: str, heads: list[_Head]) -> dict[str, float]:
        """The best score of each document that recall finds."""
        folders = sorted({head.path.rpartition("/")[0] for head in heads})
        fields = {"query": query, "limit": _RECALLED_MAX, "paths": folders}
        scores = dict[str, float]()
        for memory in self.opening.ask("memory.recall", fields).memories:
            scores[memory.path] = max(memory.scores.combined, scores.get(memory.path, 0.0))
        return scores

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = {
            head.namespace[: op.max_depth]
            for head in self._live()
            if all(_fits(condition, head.namespace) for condition in op.match_conditions or ())
        }
        return sorted(found)[op.offset : op.offset + op.limit]

    def _put(self, op: PutOp) -> None:
        path = self._path(op.namespace, op.key)
        if op.value is None:
            self._archive(path, "The graph deleted it.")
            return
        value = dict(op.value)

        def replaced(text: str) -> str:
            now, before = _now(), _stored(path, text)
            created = before.head.created_at if before and not before.head.is_expired else now
            head = _Head(path, tuple(op.namespace), op.key, created, now, op.ttl).refreshed()
            return _document(head, value, op.index)

        change_text(self.opening, path, replaced, "The graph put it.")

    def _refresh(self, stored: _Stored) -> None:
        """Begin the time to live anew."""
        path = stored.head.path

        def refreshed(text: str) -> str:
            now = _stored(path, text)
            return now.head.refreshed().line() + text[text.index("\n") :] if now else text

        if stored.head.ttl_minutes is not None:
            change_text(self.opening, path, refreshed, "The graph read it.")

    def _expire(self, path: str) -> bool:
        """Archive an item, unless it was written anew since it was listed."""
        text, read_hash = self.opening.text_of(path)
        stored = _stored(path, text)
        if stored is None or not stored.head.is_expired:
            return False
        fields = {"path": path, "ifMatch": read_hash, "rationale": "Its time to live is over."}
        try:
            self.opening.ask("fs.archive", fields)
        except GardenError as refused:
            if refused.code != "precondition_failed":
                raise
            return False
        return True

    def _archive(self, path: str, rationale: str) -> bool:
        fields = {"path": path, "rationale": rationale}
        return unless_missing(partial(self.opening.ask, "fs.archive", fields)) is not None

    def _read(self, path: str) -> _Stored | None:
        return _stored(path, text_or_nothing(self.opening, path))

    def _live(self) -> list[_Head]:
        return [head for head in self._heads() if not head.is_expired]

    def _heads(self) -> Iterator[_Head]:
        fields: dict[str, Any] = {"root": self._root, "pattern": _HEAD, "literal": True}
        while True:
            page = unless_missing(partial(self.opening.session.ask, "fs.search", fields))
            if page is None:
                return
            for found in page.result:
                try:
                    yield _head_of(found.path, found.match)
                except (ValueError, KeyError, TypeError):
                    # Too long for a match; or changed by hand, which reading it reports.
                    if (stored := self._read(found.path)) is not None:
                        yield stored.head
            if "cursor" not in page.meta:
                return
            fields["cursor"] = page.meta["cursor"]

    def _path(self, namespace: tuple[str, ...], key: str) -> str:
        # No label holds a NUL.
        return f"{self._root}/{document_name(NUL.join(namespace))}/{document_name(key)}.md"


def _now() -> datetime:
    return datetime.now(UTC)


def _json(value: Any) -> str:
    """JSON that can't end a comment."""
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e")


def _time_text(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _stored(path: str, text: str) -> _Stored | None:
    """The item of a document; an archived one has none."""
    if not text:
        return None
    try:
        value = json.loads(text[text.rindex(_VALUE) + len(_VALUE) :].rpartition(" -->")[0])
        return _Stored(_head_of(path, text.split("\n", 1)[0]), value)
    except (ValueError, KeyError, TypeError):
        raise BrokenItemError(
            f"{path} holds no item that can be read.",
            hint="Restore it with 'garden restore', or delete it.",
        ) from None


def _head_of(path: str, line: str) -> _Head:
    fields = json.loads(line.removeprefix(_HEAD).removesuffix(" -->"))
    times = {
        name: datetime.fromisoformat(each) for name, each in fields.items() if each and name.endswith("_at")
    }
    return _Head(path, **{**fields, "namespace": tuple(fields["namespace"]), **times})


def _document(head: _Head, value: dict[str, Any], index: Any) -> str:
    """The text of an item's document: the head, its texts for people and recall, and the exact value."""
    if index is False:
        texts = []
    elif index is None:
        texts = [
            (name, each if isinstance(each, str) else json.dumps(each, ensure_ascii=False))
            for name, each in value.items()
        ]
    else:
        texts = [(path, text) for path in index for text in get_text_at_path(value, path)]
    lines = "".join(f"- {_plain(name)}: {_plain(text)}\n" for name, text in texts)
    title = _plain(" / ".join([*head.namespace, head.key]))
    return f"{head.line()}\n# {title}\n\n{lines}\n{_VALUE}{_json(value)} -->\n"


def _plain(text: str) -> str:
    """A text in one line of Markdown that begins no comment."""
    words = " ".join(text.encode("utf-8", "replace").decode().split())
    return "".join(each for each in words if each.isprintable()).replace("<!--", "&lt;!--")


def _search_item(stored: _Stored, scores: Mapping[str, float] | None) -> SearchItem:
    head = stored.head
    score = None if scores is None else scores[head.path]
    return SearchItem(head.namespace, head.key, stored.value, head.created_at, head.updated_at, score)


def _fits(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    wanted, labels = list(condition.path), list(namespace)
    if condition.match_type == "suffix":
        wanted, labels = wanted[::-1], labels[::-1]
    return len(wanted) <= len(labels) and all(
        want in ("*", label) for want, label in zip(wanted, labels, strict=False)
    )


def _matches(value: Any, wanted: Any) -> bool:
    """Whether a value is as a filter wants it: equal, or compared, or nested."""
    if isinstance(wanted, Mapping):
        if any(name.startswith("$") for name in wanted):
            return all(_compares(value, name, wanted[name]) for name in wanted)
        return isinstance(value, Mapping) and all(_matches(value.get(name), wanted[name]) for name in wanted)
    if isinstance(wanted, (list, tuple)):
        return isinstance(value, list) and len(value) == len(wanted) and all(map(_matches, value, wanted))
    return bool(value == wanted)


def _compares(value: Any, name: str, wanted: Any) -> bool:
    if name in ("$eq", "$ne"):
        return bool(value == wanted) is (name == "$eq")
    if name not in _ORDERS:
        raise ValueError(f"Unsupported operator: {name}. Use $eq, $ne, {', '.join(_ORDERS)}.")
    numbers = all(isinstance(each, (int, float)) for each in (value, wanted))
    texts = all(isinstance(each, str) for each in (value, wanted))
    return (numbers or texts) and bool(_ORDERS[name](value, wanted))
