"""The programs in the documents and the examples run, with models that follow a script."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from garden.home.folder import Home
from tests.docs.pages import REPOSITORY, Block, blocks_of
from tests.integrations.scripted_models import (
    gpt_call,
    gpt_text,
    memory_call,
    scripted,
    settings_for,
    text_reply,
)

PAGE = REPOSITORY / "docs/integrations.md"
LINES_MAX = 5
TEA = "/memories/tea.md"
# What the model says in a section of the page.
CLAUDE = [
    memory_call("view", path="/memories"),
    memory_call("create", path=TEA, file_text="Likes mint tea.\n"),
    memory_call("view", path=TEA),
    text_reply("You like mint tea."),
]
SCRIPTS: dict[str, Sequence[dict[str, Any]]] = {
    "Anthropic's memory tool": CLAUDE,
    "OpenAI Agents SDK": [gpt_text("Noted."), gpt_text("You like mint tea.")],
    "Pydantic AI": [
        gpt_call("memory_store", content="Likes mint tea."),
        gpt_call("memory_recall", query="tea"),
        gpt_text("You like mint tea."),
    ],
}


def run(
    home: Home, replies: Sequence[dict[str, Any]], *program: str | Path
) -> tuple[str, list[dict[str, Any]]]:
    """Run a program that must succeed; return its output and the requests that the model got."""
    with scripted(replies) as model:
        done = subprocess.run(
            [sys.executable, *program],
            cwd=home.path,
            env={**os.environ, "GARDEN_HOME": str(home.path), **settings_for(model.url)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout, model.requests


def sections_of(page: Path) -> dict[str, list[Block]]:
    """The Python programs of each section."""
    found: dict[str, list[Block]] = {}
    for text in re.split(r"^## ", page.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        part = [each for each in blocks_in(text) if each.language == "python"]
        if part:
            found[text.split("\n", 1)[0]] = part
    return found


def blocks_in(text: str) -> list[Block]:
    pattern = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    return [Block(each[1], each[2]) for each in pattern.finditer(text)]


SECTIONS = sections_of(PAGE)


@pytest.mark.parametrize("section", SECTIONS)
def test_the_programs_of_a_section_recall_a_memory(ready_home: Home, section: str) -> None:
    first, *others = (block.text for block in SECTIONS[section])
    output, _ = run(ready_home, SCRIPTS.get(section, ()), "-c", first)
    assert "mint tea" in output
    for program in others:
        run(ready_home, (), "-c", program)


def test_the_table_names_every_section_and_counts_its_lines() -> None:
    rows = re.findall(r"^\| \[(.*?)\]\(#.*?\) \|.*\| (\d+) \| \S+ \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    counted = {
        section: len([line for line in blocks[0].text.splitlines() if line.strip()])
        for section, blocks in SECTIONS.items()
        if not section.startswith("Vercel")
    }
    assert {section: int(lines) for section, lines in rows} == counted
    assert max(counted.values()) <= LINES_MAX


def test_every_program_of_the_page_is_in_a_section() -> None:
    programs = [block for block in blocks_of(PAGE) if block.language == "python"]
    assert sum(map(len, SECTIONS.values())) == len(programs)


def test_claude_remembers_in_the_example(ready_home: Home) -> None:
    output, requests = run(
        ready_home, CLAUDE, REPOSITORY / "examples/anthropic_memory.py", "I like mint tea."
    )
    assert output == "You like mint tea.\n"
    assert (ready_home.path / "users/me/memories/tea.md").read_text() == "Likes mint tea.\n"
    (shown,) = requests[3]["messages"][-1]["content"]
    assert "1\tLikes mint tea." in shown["content"]


def test_a_graph_remembers_between_two_runs_of_the_example(ready_home: Home) -> None:
    program = REPOSITORY / "examples/langgraph_store.py"
    assert run(ready_home, (), program, "I like mint tea.")[0] == "I remember: nothing yet\n"
    assert run(ready_home, (), program, "Which tea do I like?")[0] == "I remember: I like mint tea.\n"


def test_what_left_a_chat_comes_back_in_the_next_run_of_the_example(ready_home: Home) -> None:
    # A process each, since LlamaIndex never closes the database of a chat.
    program = REPOSITORY / "examples/llama_index_memory.py"
    run(ready_home, (), program, "I like mint tea.", "It rains here, and has for days.", "So it goes on.")
    assert "user: I like mint tea." in run(ready_home, (), program, "Which tea do I like?")[0]
