"""Random edits, moves, erasures and restores: every version and every line is as in a simple model."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from garden.application import Garden
from garden.events.records import Caller
from garden.files.paths import GardenPath
from garden.grammar.gaps import fill_text
from garden.grammar.passages import PassageFinder
from garden.history.keeping import keep_texts
from garden.session import Session
from tests.support.gardens import file_of, result

NIGHTLY = os.environ.get("GARDEN_HYPOTHESIS") == "nightly"
USERS = count()
STEPS = (
    *("add", "add", "prune", "merge", "rewrite", "lose_by_hand", "reorder_by_hand", "return_by_hand"),
    *("restore", "move", "erase", "keep"),
)
TEXT = "---\nid: critic\nuser_id: {user}\nschema: 1\n---\n\n# Part\n" + "".join(
    f"\n## {heading}\n<!-- @anchor: {anchor} v1 -->\n"
    for heading, anchor in {
        "Summary": "summary", "Concerns": "concerns", "Needs": "needs", "Inbox": "inbox"
    }.items()
)  # fmt: skip
# Lines of which there may be several; an erased item leaves its bullet.
BARE = ("", "---", "- ")
Steps = list[tuple[str, int]]


@dataclass(frozen=True)
class Change:
    """One event, and the text that it leaves at a path."""

    event_id: str
    path: str
    text: str
    op: str
    came_from: str | None


@dataclass
class Model:
    """Everything that happened to one document, which may move."""

    garden: Garden
    user_id: str
    path: str
    changes: list[Change] = field(default_factory=list)
    words: Iterator[int] = field(default_factory=count)

    def session(self, role: str = "agent") -> Session:
        return self.garden.session(self.user_id, role, role=role)

    @property
    def text(self) -> str:
        return file_of(self.garden, self.path).read_text()

    @property
    def items(self) -> list[str]:
        return [line[2:] for line in self.text.splitlines() if line.startswith("- ") and line != "- "]

    def versions(self, path: str) -> list[str]:
        """The texts of all versions at a path; a move away leaves none."""
        return [
            each.text if each.path == path else ""
            for each in self.changes
            if path in (each.path, each.came_from)
        ]

    def blame(self) -> dict[str, str]:
        """The event of each line of the present text."""
        standing: dict[str, str] = {}
        gone: dict[str, str] = {}
        for change in self.changes:
            came = {
                line: self.origin(line, change, standing, gone)
                for line in change.text.splitlines()
                if line not in BARE
            }
            gone |= {line: event for line, event in standing.items() if line not in came}
            standing = came
        return standing

    def origin(self, line: str, change: Change, standing: dict[str, str], gone: dict[str, str]) -> str:
        if line in standing:
            return standing[line]
        if change.op in {"restore", "external_edit"} and line in gone:
            return gone[line]
        if change.op == "merge_items":
            return next(
                (event for old, event in standing.items() if line.startswith(f"{old}; ")), change.event_id
            )
        return change.event_id

    def take(self, step: str, number: int) -> None:
        """Take a step if it fits the text, and take up the event that it recorded."""
        before, path = self.garden.services.reader.head(self.user_id, self.path), self.path
        getattr(self, step)(number)
        after = self.garden.services.reader.head(self.user_id, self.path)
        if after and after.head_event_id and after.head_event_id != (before and before.head_event_id):
            event = self.garden.services.reader.event(self.user_id, after.head_event_id)
            assert event
            came_from = path if path != self.path else None
            self.changes.append(
                Change(str(event.event_id), self.path, self.text, event.statement.op, came_from)
            )

    def curate(self, op: str, *items: object) -> None:
        args = {"path": self.path, "sectionAnchor": "concerns v1", "op": op, "items": list(items)}
        result(self.session(), "md.curate_list", **args, reason="So it is.")

    def begin(self, _: int) -> None:
        result(self.session(), "fs.write", path=self.path, content=TEXT.format(user=self.user_id))

    def add(self, _: int) -> None:
        # No two items share a part, so that erasing one leaves the others whole.
        letter = chr(ord("a") + next(self.words))
        self.curate("append", f"{letter * 4} {letter * 5} {letter * 6}")

    def prune(self, number: int) -> None:
        if items := self.items:
            self.curate("prune", {"match": items[number % len(items)]})

    def merge(self, number: int) -> None:
        if len(items := self.items) > 1:
            into = items.pop(number % len(items))
            self.curate("merge", {"into": into, "from": items[:1]})

    def rewrite(self, number: int) -> None:
        """An ordinary edit may write anew what stood there before."""
        lines = [f"She has {number % 3} cats.", "", f"She has {number % 5} dogs."]
        change = {"replace": "\n".join(lines)}
        result(self.session(), "md.patch_section", path=self.path, sectionAnchor="summary v1", change=change)

    def lose_by_hand(self, number: int) -> None:
        if items := self.items:
            self.write(self.text.replace(f"- {items[number % len(items)]}\n", "", 1))

    def reorder_by_hand(self, number: int) -> None:
        if items := self.items:
            item = f"- {items[number % len(items)]}\n"
            self.write(self.text.replace(item, "", 1).replace("## Needs\n", f"{item}\n## Needs\n", 1))

    def return_by_hand(self, number: int) -> None:
        texts = self.versions(self.path)
        lines = [line for line in texts[number % len(texts)].splitlines() if line.startswith("- ")]
        if missing := [line for line in lines if line not in self.text.splitlines()]:
            self.write(self.text.replace("## Needs\n", f"{missing[0]}\n\n## Needs\n", 1))

    def write(self, text: str) -> None:
        file_of(self.garden, self.path).write_bytes(text.encode())
        self.garden.services.write_path.settle_and_adopt(Caller(self.user_id, "x"), GardenPath(self.path))

    def restore(self, number: int) -> None:
        version = number % len(self.versions(self.path)) + 1
        args = {"path": self.path, "version": version, "rationale": "It was better."}
        self.session("maintainer").call("md.restore", args)

    def move(self, _: int) -> None:
        new_path = _other(self.path)
        result(self.session("maintainer"), "fs.move", path=self.path, newPath=new_path)
        self.path = new_path

    def erase(self, number: int) -> None:
        if items := [item for item in self.items if ";" not in item]:
            words = items[number % len(items)]
            self.changes = [
                replace(each, text=fill_text(each.text, PassageFinder(words))) for each in self.changes
            ]
            result(self.session("maintainer"), "garden.erase", text=words, reason="She asked.")

    def keep(self, _: int) -> None:
        list(keep_texts(self.garden.services))


def _other(path: str) -> str:
    return path.replace("critic", "child") if "critic" in path else path.replace("child", "critic")


@settings(
    max_examples=300 if NIGHTLY else 12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 100)), min_size=4, max_size=14))
def test_versions_copies_and_blame_are_as_in_the_model(garden: Garden, steps: Steps) -> None:
    model = Model(garden, user := f"u{next(USERS)}", f"users/{user}/parts/critic/notes.md")
    for step in (("begin", 0), *steps):
        model.take(*step)
    for path in (model.path, _other(model.path)):
        versions = model.versions(path)
        texts = [garden.services.reader.text_at(user, path, number + 1) for number in range(len(versions))]
        assert texts == versions
        copies = garden.services.files.documents(GardenPath(path.replace("users/", "history/")[:-3]))
        assert {garden.services.files.read(each).text for each in copies} <= set(versions)
    lines = result(model.session(), "history.blame", path=model.path)["lines"]
    assert "".join(f"{each['text']}\n" for each in lines) == model.text
    blamed = {each["text"]: each["eventId"] for each in lines if each["text"] not in BARE}
    assert blamed == model.blame()
