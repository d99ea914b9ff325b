"""A document as the model sees it: the lines from its title on, without blank ones and Change Log entries."""

from collections import Counter
from itertools import pairwise

from tests.writing.sequences.calls import ERASED, Call

Page = tuple[str, ...]


class RefusedError(Exception):
    """The call must be refused with one of these codes."""

    def __init__(self, *codes: str) -> None:
        self.codes = frozenset(codes)


def page_of(text: str) -> Page:
    """The page of a file's text."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    title = next((number for number, line in enumerate(lines) if line.startswith("# ")), 0)
    log = anchor_line("change_log v1")
    return tuple(lines[title : lines.index(log) + 1 if log in lines else None])


def anchor_line(anchor: str) -> str:
    return f"<!-- @anchor: {anchor} -->"


def is_whole(page: Page, template: Page) -> bool:
    """Whether a page has every anchor of its template."""
    return all(line in page for line in template if line.startswith("<!--"))


def mended(page: Page, template: Page) -> Page:
    """The page with every anchor of its template back below its heading."""
    for heading, anchor in pairwise(template):
        if anchor.startswith("<!--") and anchor not in page:
            place = page.index(heading) + 1
            page = (*page[:place], anchor, *page[place:])
    return page


def section(page: Page, anchor: str) -> slice:
    """Where the lines of a section are."""
    start = page.index(anchor_line(anchor)) + 1
    ends = [number for number in range(start, len(page)) if page[number].startswith("## ")]
    return slice(start, ends[0] if ends else len(page))


def edited(call: Call, page: Page | None, template: Page) -> Page:
    """The page after an edit; `RefusedError` if there is no such edit of this page."""
    match call.tool:
        case "md.plant":
            if page is not None:
                raise RefusedError("already_exists")
            return template
        case "fs.write" if page is None:
            return page_of(call.args["content"])
    if page is None:
        raise RefusedError("not_found")
    if call.tool == "md.repair":
        return mended(page, template)
    if not is_whole(page, template):
        raise RefusedError("document_damaged")
    return page_of(call.args["content"]) if call.tool == "fs.write" else _in_section(call, page)


def _in_section(call: Call, page: Page) -> Page:
    # Entries go to the last section.
    where = (
        section(page, call.args["sectionAnchor"]) if "sectionAnchor" in call.args else slice(len(page), None)
    )
    lines = page[where]
    match call.args:
        case {"text": text} | {"change": {"append": text}}:
            lines = (*lines, text)
        case {"change": {"replace": text}}:
            lines = (text,)
        case {"ops": "append", "items": [item]}:
            lines = (*lines, f"- {item}")
        case {"ops": "prune", "items": [{"match": item}]}:
            if lines.count(f"- {item}") != 1:
                raise RefusedError("patch_conflict" if f"- {item}" in lines else "not_found")
            lines = tuple(line for line in lines if line != f"- {item}")
    return (*page[: where.start], *lines, *page[len(page) if where.stop is None else where.stop :])


def erased_in(page: Page | None) -> int:
    """How many lines of a page have the words that are erased."""
    return sum(ERASED in line for line in page or ())


def without_erased(page: Page) -> Page:
    """The other lines; a list may keep an empty item."""
    return tuple(line for line in page if ERASED not in line and line != "-")


def holds(page: Page, before: Page, after: Page) -> bool:
    """Whether a page has every line that a change added, and none that it removed."""
    there, old, new = Counter(page), Counter(before), Counter(after)
    added, removed = new - old, old - new
    return all(there[line] >= new[line] for line in added) and all(
        there[line] <= new[line] for line in removed
    )
