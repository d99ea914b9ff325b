"""Anthropic's memory tool: the shared cases, and what its commands answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError

from garden.application import Garden
from garden.integrations.anthropic import AsyncGardenMemoryTool, GardenMemoryTool
from tests.integrations.conformance import USER, Conformance, Driver, contents_of, waited
from tests.support.gardens import events_of, plant

PROFILE = "/memories/parts/critic/profile.md"
LINES = "one\ntwo\nthree\n"


class MemoryToolDriver(Driver):
    actor = "memory-tool"

    def __init__(self, home: Path, user: str = USER) -> None:
        self.tool = GardenMemoryTool(user, home=home)

    def call(self, command: str, **fields: Any) -> Any:
        return self.tool.call({"command": command, **fields})

    def files(self) -> list[str]:
        rows = self.call("view", path="/memories").splitlines()[2:]
        return [path for _, path in (row.split("\t") for row in rows) if path.endswith(".md")]

    def remember(self, text: str) -> None:
        """A file each makes the listing; all threads write to one file, too."""
        try:
            self.call("create", path="/memories/log.md", file_text=f"{text}\n")
        except ToolError:
            self.call("insert", path="/memories/log.md", insert_line=0, insert_text=text)

    def recalled(self, query: str) -> str:  # noqa: ARG002 - the tool has no search
        return "\n".join(self.call("view", path=path) for path in self.files())

    def replace(self, old: str, new: str) -> None:
        self.call("str_replace", path=self.files()[0], old_str=old, new_str=new)

    def refused(self) -> str:
        with pytest.raises(ToolError) as refused:
            self.call("create", path="/memories/Lamp.txt", file_text="lamp")
        return str(refused.value)

    def resend(self, text: str) -> None:
        for _ in range(2):
            self.call("create", path="/memories/log.md", file_text=text)

    def close(self) -> None:
        self.tool.close()


class AsyncMemoryToolDriver(MemoryToolDriver):
    def __init__(self, home: Path, user: str = USER) -> None:
        self.tool = AsyncGardenMemoryTool(user, home=home)  # type: ignore[assignment]

    def call(self, command: str, **fields: Any) -> Any:
        return waited(self.tool.call({"command": command, **fields}))  # type: ignore[arg-type]


class TestMemoryTool(Conformance):
    driver = MemoryToolDriver


class TestAsyncMemoryTool(Conformance):
    driver = AsyncMemoryToolDriver


@pytest.fixture
def tool(garden: Garden) -> Iterator[GardenMemoryTool]:
    with GardenMemoryTool(USER, garden=garden) as tool:
        yield tool


def do(tool: GardenMemoryTool, command: str, **fields: Any) -> str:
    return str(tool.call({"command": command, **fields}))


def refusal(tool: GardenMemoryTool, command: str, **fields: Any) -> str:
    with pytest.raises(ToolError) as refused:
        do(tool, command, **fields)
    return str(refused.value)


def test_a_listing_has_sizes_and_two_levels(tool: GardenMemoryTool, garden: Garden) -> None:
    plant(garden.session(USER), "users/ada/notes.md", "users/ada/parts/critic/profile.md")
    notes, profile = (
        (garden.home.path / "users/ada" / name).stat().st_size
        for name in ("notes.md", "parts/critic/profile.md")
    )
    for name, size in (("a", 5), ("b/c", 1536), ("b/d/e", 2048)):
        do(tool, "create", path=f"/memories/{name}.md", file_text="x" * size)
    head, *rows = do(tool, "view", path="/memories").split("\n")
    assert (
        head == "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:"
    )
    assert rows[1:] == [
        "5B\t/memories/a.md",
        "3.5K\t/memories/b/",
        "1.5K\t/memories/b/c.md",
        "2K\t/memories/b/d/",
        f"{notes}B\t/memories/notes.md",
        f"{profile}B\t/memories/parts/",
        f"{profile}B\t/memories/parts/critic/",
    ]
    assert rows[0].endswith("K\t/memories")
    assert "2K\t/memories/b/d/e.md" in do(tool, "view", path="/memories/b/")


def test_a_view_has_line_numbers_and_a_range(tool: GardenMemoryTool) -> None:
    do(tool, "create", path="/memories/a.md", file_text=LINES)
    head = "Here's the content of /memories/a.md with line numbers:\n"
    assert (
        do(tool, "view", path="/memories/a.md") == f"{head}     1\tone\n     2\ttwo\n     3\tthree\n     4\t"
    )
    assert do(tool, "view", path="/memories/a.md", view_range=[2, 3]) == f"{head}     2\ttwo\n     3\tthree"
    assert do(tool, "view", path="/memories/a.md", view_range=[3, -1]) == f"{head}     3\tthree\n     4\t"
    assert "lines 1 to 4" in refusal(tool, "view", path="/memories/a.md", view_range=[5, 6])


def test_a_file_longer_than_one_answer_is_read_whole(tool: GardenMemoryTool) -> None:
    text = "".join(f"line {number}\n" for number in range(1200))
    do(tool, "create", path="/memories/long.md", file_text=text)
    assert "  1200\tline 1199\n" in do(tool, "view", path="/memories/long.md")
    do(tool, "insert", path="/memories/long.md", insert_line=1200, insert_text="the end")
    assert tool.opening.text_of("users/ada/memories/long.md")[0] == f"{text}the end\n"


def test_a_text_is_replaced_only_where_it_is_once(tool: GardenMemoryTool) -> None:
    do(tool, "create", path="/memories/a.md", file_text=LINES)
    answer = do(tool, "str_replace", path="/memories/a.md", old_str="two", new_str="2\n2b")
    assert answer.endswith("     1\tone\n     2\t2\n     3\t2b\n     4\tthree")
    do(tool, "create", path="/memories/b.md", file_text="1\n2\n3\n4\n5\ngone\n")
    assert do(tool, "str_replace", path="/memories/b.md", old_str="gone\n", new_str="").endswith(
        "5\t5\n     6\t"
    )
    assert "did not appear verbatim" in refusal(
        tool, "str_replace", path="/memories/a.md", old_str="two", new_str=""
    )
    assert "in lines: 1, 4, 4." in refusal(
        tool, "str_replace", path="/memories/a.md", old_str="e", new_str=""
    )
    assert "empty" in refusal(tool, "str_replace", path="/memories/a.md", old_str="", new_str="x")


def test_a_text_is_inserted_below_a_line_of_the_file(tool: GardenMemoryTool) -> None:
    do(tool, "create", path="/memories/a.md", file_text="one\ntwo")
    do(tool, "insert", path="/memories/a.md", insert_line=0, insert_text="top\n")
    do(tool, "insert", path="/memories/a.md", insert_line=3, insert_text="end")
    assert tool.opening.text_of("users/ada/memories/a.md")[0] == "top\none\ntwo\nend\n"
    for line in (-1, 5):
        assert "[0, 4]" in refusal(tool, "insert", path="/memories/a.md", insert_line=line, insert_text="x")


def test_a_deleted_file_is_archived_and_may_begin_anew(tool: GardenMemoryTool, garden: Garden) -> None:
    path = "users/ada/memories/a.md"
    do(tool, "create", path="/memories/a.md", file_text="first")
    do(tool, "delete", path="/memories/a.md")
    assert "does not exist" in refusal(tool, "view", path="/memories/a.md")
    assert "does not exist" in refusal(tool, "delete", path="/memories/a.md")
    assert "a.md" not in do(tool, "view", path="/memories")
    do(tool, "create", path="/memories/a.md", file_text="second")
    assert events_of(garden.session(USER), path)[1] == "archive committed"
    assert garden.session(USER).history.show(path, "1").result.text == "first"


def test_a_folder_is_renamed_and_deleted_with_its_files(tool: GardenMemoryTool) -> None:
    for name in ("old/a", "old/in/b", "gone"):
        do(tool, "create", path=f"/memories/{name}.md", file_text=name)
    do(tool, "delete", path="/memories/gone.md")
    do(tool, "rename", old_path="/memories/old", new_path="/memories/new")
    # The path of a deleted file is free.
    do(tool, "rename", old_path="/memories/new/a.md", new_path="/memories/gone.md")
    assert "old/a" in do(tool, "view", path="/memories/gone.md")
    assert "old/in/b" in do(tool, "view", path="/memories/new/in/b.md")
    do(tool, "delete", path="/memories/new")
    assert "does not exist" in refusal(tool, "view", path="/memories/new")


def test_no_file_is_lost_by_a_rename_or_create(tool: GardenMemoryTool, garden: Garden) -> None:
    for name in ("a", "b"):
        do(tool, "create", path=f"/memories/{name}.md", file_text=name)
    before = contents_of(garden.home)
    assert "already exists" in refusal(tool, "rename", old_path="/memories/a.md", new_path="/memories/b.md")
    assert "already exists" in refusal(tool, "create", path="/memories/a.md", file_text="other")
    assert "does not exist" in refusal(tool, "rename", old_path="/memories/c.md", new_path="/memories/d.md")
    for new in ("/memories/C.md", "/memories/c", "/memories/notes.md", "/etc/c.md"):
        refusal(tool, "rename", old_path="/memories/a.md", new_path=new)
    assert contents_of(garden.home) == before


def test_the_gardens_own_documents_can_be_edited_but_not_deleted(
    tool: GardenMemoryTool, garden: Garden
) -> None:
    plant(garden.session(USER), "users/ada/parts/critic/profile.md")
    do(tool, "insert", path=PROFILE, insert_line=10, insert_text="She is brave.")
    assert "brave" in do(tool, "view", path=PROFILE)
    before = contents_of(garden.home)
    for path in (PROFILE, "/memories/parts", "/memories", "/memories/notes.md"):
        assert "can't be deleted" in refusal(tool, "delete", path=path)
    refusal(tool, "rename", old_path=PROFILE, new_path="/memories/critic.md")
    assert "another path" in refusal(tool, "create", path="/memories/notes.md", file_text="hello")
    assert "anchor" in refusal(
        tool, "str_replace", path=PROFILE, old_str="<!-- @anchor: summary v1 -->\n", new_str=""
    )
    assert contents_of(garden.home) == before
    do(tool, "create", path="/memories/a.md", file_text="a")
    tool.clear_all_memory()
    assert "a.md" not in do(tool, "view", path="/memories")
    assert "brave" in do(tool, "view", path=PROFILE)


@pytest.mark.parametrize(
    "path", ["/memories/Lamp.md", "/memories/lamp.txt", "/memories/a/b/c/d.md", "/memories/../../x.md"]
)
def test_a_path_that_is_not_allowed_is_answered_with_those_that_are(
    tool: GardenMemoryTool, path: str
) -> None:
    assert "Write paths like /memories/topic.md" in refusal(tool, "create", path=path, file_text="x")


@pytest.mark.parametrize(
    "asked",
    [{}, {"command": "wipe"}, {"command": "view"}, {"command": "insert", "path": "/memories/a.md"}, "x"],
)
def test_a_command_that_cannot_be_read_is_answered(tool: GardenMemoryTool, asked: object) -> None:
    with pytest.raises(ToolError, match="command"):
        tool.call(asked)


def test_the_same_line_that_two_agents_insert_at_once_is_there_twice(garden: Garden) -> None:
    tool, other = (GardenMemoryTool(USER, garden=garden) for _ in range(2))
    tool.call({"command": "create", "path": "/memories/a.md", "file_text": "Top.\n"})
    insertion = {"command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": "Tea."}
    read, others = tool.opening.text_of, iter([insertion])

    def overtaken(path: str) -> tuple[str, str]:
        before = read(path)
        for each in others:
            other.call(each)
        return before

    tool.opening.text_of = overtaken  # type: ignore[method-assign]
    tool.call(insertion)
    assert read(f"users/{USER}/memories/a.md")[0] == "Top.\nTea.\nTea.\n"
