"""Long lists, read from a tool page by page."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from garden.gateway.dispatcher import Envelope
    from garden.surfaces.cli.desk import Desk


def read_pages(
    desk: "Desk", tool: str, query: dict[str, Any], *, rows: str, limit: int | None, page_max: int
) -> "Iterator[Envelope]":
    """Call a tool page by page up to the limit of its `rows`; a refusal is the last page."""
    cursor: str | None = None
    while limit is None or limit > 0:
        page = desk.call(tool, **query, limit=min(limit or page_max, page_max), cursor=cursor)
        yield page
        cursor = cursor_after(page)
        if cursor is None:
            return
        if limit is not None:
            limit -= len(page["result"][rows])


def cursor_after(page: "Envelope") -> str | None:
    """The cursor of the next page, if there is one."""
    if not page["ok"]:
        return None
    result: dict[str, Any] = page["result"]
    cursor: str | None = result.get("cursor") or page["meta"].get("cursor")
    return cursor


def join_pages(pages: "list[Envelope]", rows: str) -> "Envelope":
    """All pages as one answer, or the refusal that ended them."""
    last = pages[-1]
    if not last["ok"]:
        return last
    every = [row for page in pages for row in page["result"][rows]]
    return {**last, "result": {**last["result"], rows: every}}
