"""List operations made from the ops and items of a request."""

from typing import Annotated, Literal

from pydantic import Field

from garden.events.wire import Wire
from garden.grammar.edits import AppendItem, CurateList, ListOp, MergeItems, PruneItem

ListOpName = Literal["append", "prune", "merge"]


class PruneWish(Wire):
    """To prune."""

    match: str


class MergeWish(Wire):
    """To merge."""

    into: str
    sources: Annotated[tuple[str, ...], Field(alias="from", min_length=1)]
    text: str | None = None


ItemWish = str | PruneWish | MergeWish

_MIXED = "curate_list"
_OPS = {AppendItem: "append_item", PruneItem: "prune_item", MergeItems: "merge_items"}


def edit_of(
    section: str, ops: ListOpName | tuple[ListOpName, ...], items: ItemWish | tuple[ItemWish, ...]
) -> CurateList:
    """Pair ops with items: one op for all items, or one for each."""
    given = items if isinstance(items, tuple) else (items,)
    each = (ops,) if isinstance(ops, str) else ops
    if len(each) == 1:
        each *= len(given)
    if len(each) != len(given):
        raise ValueError(
            f"there are {len(each)} ops for {len(given)} items: give one op, or one for each item"
        )
    return CurateList(section, tuple(_operation(op, item) for op, item in zip(each, given, strict=True)))


def op_of(edit: CurateList) -> str:
    """Op name of the edit in its event."""
    names = {_OPS[type(op)] for op in edit.ops}
    return names.pop() if len(names) == 1 else _MIXED


def _operation(op: ListOpName, item: ItemWish) -> ListOp:
    match op, item:
        case "append", str(text):
            return AppendItem(text)
        case "prune", PruneWish(match=match):
            return PruneItem(match)
        case "prune", str(match):
            return PruneItem(match)
        case "merge", MergeWish(into=into, sources=sources, text=text):
            return MergeItems(into, sources, text)
    raise ValueError(_ITEM_FORMS[op])


_ITEM_FORMS = {
    "append": "an item to append is its text",
    "prune": "an item to prune is {match}",
    "merge": "an item to merge is {into, from: [...], text?}",
}
