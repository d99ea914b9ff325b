"""Random sequences of calls, outside edits and killed writers: the events always hold."""

import os
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from garden.application import Garden
from garden.files.garden_files import GardenFiles
from garden.files.prepared_file import PreparedFile
from tests.support.crowd import Asked
from tests.support.planted import code_of
from tests.support.promises import broken_promises
from tests.support.recalled import wrong_earlier_passages

NIGHTLY = os.environ.get("GARDEN_HYPOTHESIS") == "nightly"
DOCUMENTS = ("overview.md", "notes.md", "parts/critic/profile.md", "parts/critic/notes.md")
SECTIONS = ("summary v1", "concerns v1", "inbox v1", "facts v1", "change_log v1", "by_hand v1")

words = st.one_of(
    st.sampled_from(
        [
            "slept well",
            "- an item",
            '- "quote" (ev:s1-m2)',
            "- 2026-11-19 said on that day (priority: 80) #sailing",
            "### 2026-11-18\n\n- said then\n- an item",
            "### Undated\n\n- said then\n- an item\n- an item",
            "- 2026-W47 (weekly): She slept better.",
            "a\r\nb",
            "## Heading",
            "```",
            "",
            "\ufeff",
            "ä\u0301",
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30),
)
paths = st.sampled_from(DOCUMENTS)
sections = st.sampled_from(SECTIONS)
keys = st.one_of(st.none(), st.sampled_from("ab"))


@dataclass(frozen=True)
class Step:
    """A call, an outside edit, or an interrupted call."""

    what: str
    path: str
    args: dict[str, Any] = field(default_factory=dict)


def _calls(
    tool: str, path: st.SearchStrategy[str] = paths, **args: st.SearchStrategy[Any]
) -> st.SearchStrategy[Step]:
    shared = {"idempotencyKey": keys, "rationale": st.one_of(st.none(), st.just("because"))}
    return st.builds(Step, st.just(tool), path, st.fixed_dictionaries({**shared, **args}))


def curating(op: str, items: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return _calls(
        "md.curate_list", sectionAnchor=sections, ops=st.just(op), items=items, reason=st.just("why")
    )


edits = st.one_of(
    _calls("md.plant"),
    _calls("md.patch_section", sectionAnchor=sections, change=words.map(lambda text: {"append": text})),
    _calls("md.patch_section", sectionAnchor=sections, change=words.map(lambda text: {"replace": text})),
    curating("append", st.lists(words, min_size=1, max_size=2)),
    curating("prune", st.just([{"match": "1: an item"}])),
    _calls("fs.append", text=words),
    _calls("fs.write", content=words),
    _calls("fs.move", newPath=paths),
    _calls("md.repair"),
    _calls("md.restore", version=st.integers(1, 5)),
)  # fmt: skip
others = st.one_of(_calls("md.snapshot_history"), _calls("fs.append", text=words, dryRun=st.just(True)))
by_hand = st.one_of(
    st.builds(Step, st.just("append by hand"), paths, words.map(lambda text: {"text": text})),
    st.builds(Step, st.just("save by hand"), paths, words.map(lambda text: {"text": text})),
    st.builds(Step, st.just("take an anchor out"), paths),
    st.builds(Step, st.just("empty"), paths),
)
cut_off = st.builds(
    lambda when, step: Step(when, step.path, {"tool": step.what, "args": step.args}),
    st.sampled_from(["cut before", "cut after"]),
    edits,
)
steps = st.one_of(edits, edits, others, by_hand, cut_off)


class CutOffError(BaseException):
    """Ends a writer without any clean-up of its own, as a kill would."""


class World:
    """One user's garden, with its expected state."""

    def __init__(self, garden: Garden, user_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.garden = garden
        self.user_id = user_id
        self.session = garden.session(user_id, "companion", role="maintainer")
        self.unsettled: set[str] = set()
        self._monkeypatch = monkeypatch

    def path(self, path: str) -> str:
        return f"users/{self.user_id}/{path}"

    def take(self, step: Step) -> None:
        if step.what.startswith("cut"):
            self._cut_off(step)
        elif "." in step.what:
            self._call(step)
        else:
            self._edit_by_hand(step)

    def asked(self, tool: str, path: str, args: dict[str, Any]) -> Asked:
        given = {name: value for name, value in args.items() if value is not None}
        if "newPath" in given:
            given["newPath"] = self.path(given["newPath"])
        return tool, {"path": self.path(path), **given}

    def version(self, path: str) -> int:
        head = self.garden.services.reader.head(self.user_id, path)
        return head.version if head else 0

    def check(self, path: str) -> None:
        """The file matches its head, byte for byte."""
        version, file = self.version(path), self.garden.home.path / path
        text = self.garden.services.reader.text_at(self.user_id, path, version) if version else ""
        assert (file.read_bytes() if file.exists() else b"") == text.encode()

    def _call(self, step: Step) -> None:
        tool, args = self.asked(step.what, step.path, step.args)
        path = args["path"]
        before, known = self.version(path), path not in self.unsettled
        answer = self.session.call(tool, args)
        assert code_of(answer) != "internal", (tool, args)
        if not answer["ok"] or args.get("dryRun"):
            return
        meta = answer["meta"]
        is_new = tool != "md.snapshot_history" and not (meta.get("replayed") or meta.get("unchanged"))
        if known:
            assert self.version(path) == before + is_new
        if not meta.get("replayed"):
            for each in {path, str(args.get("newPath", path))}:
                self.unsettled.discard(each)
                self.check(each)

    def _cut_off(self, step: Step) -> None:
        tool, args = self.asked(step.args["tool"], step.path, step.args["args"])
        owner, name = (GardenFiles, "move") if tool == "fs.move" else (PreparedFile, "put")
        original = getattr(owner, name)

        def cut(*words: Any, **named: Any) -> None:
            if step.what == "cut after":
                original(*words, **named)
            raise CutOffError

        with self._monkeypatch.context() as patched:
            patched.setattr(owner, name, cut)
            try:
                self.session.call(tool, args)
            except CutOffError:
                self.unsettled |= {args["path"], str(args.get("newPath", args["path"]))}

    def _edit_by_hand(self, step: Step) -> None:
        path = self.path(step.path)
        file = self.garden.home.path / path
        if not file.exists():
            return
        before = file.read_bytes()
        text = step.args.get("text", "").encode()
        match step.what:
            case "append by hand":
                with file.open("ab") as opened:
                    opened.write(text)
            case "save by hand":
                fresh = file.with_suffix(".swp")
                fresh.write_bytes(text + b"\n" + before)
                fresh.replace(file)
            case "take an anchor out":
                file.write_bytes(before.replace(b" v1 -->", b" v2 -->", 1))
            case "empty":
                file.write_bytes(b"")
        self.unsettled.add(path)

    def end(self) -> None:
        """The last caller finds each document in order, and leaves it so."""
        for each in DOCUMENTS:
            answer = self.session.call(
                "fs.append", {"path": self.path(each), "text": "the end", "toolCallId": "z"}
            )
            assert code_of(answer) != "internal"
        assert broken_promises(self.garden, self.user_id) == []
        for each in DOCUMENTS:
            assert list(wrong_earlier_passages(self.garden, self.path(each))) == []


_numbers = count()


@settings(
    max_examples=500 if NIGHTLY else 25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(sequence=st.lists(steps, min_size=4, max_size=25))
def test_after_any_sequence_of_steps_the_events_hold_and_match_the_file(
    garden: Garden, monkeypatch: pytest.MonkeyPatch, sequence: list[Step]
) -> None:
    world = World(garden, f"user{next(_numbers)}", monkeypatch)
    for each in ("overview.md", "notes.md", "parts/critic/profile.md"):
        world.take(Step("md.plant", each))
    for step in sequence:
        world.take(step)
    world.end()
