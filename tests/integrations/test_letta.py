"""Letta: blocks of agent files, as documents and back."""

import json
from pathlib import Path
from typing import Any

import pytest

from garden.application import Garden
from garden.grammar.errors import GardenError
from garden.integrations.letta import export_agent_file, import_agent_file
from tests.integrations.conformance import USER, Conformance, Driver
from tests.support.gardens import events_of

HUMAN = "users/ada/memories/blocks/human.md"
BLOCKS: list[dict[str, Any]] = [
    {
        "id": "block-0", "label": "human", "value": "Ada mends clocks.\n---\n\n", "limit": 5000,
        "description": "What is known: of the human", "metadata": {"kept": True},
    },
    {"id": "block-7", "label": "Open Loops", "value": "", "limit": 100, "read_only": True},
]  # fmt: skip
AGENT = {"id": "agent-0", "name": "Companion", "block_ids": ["block-0", "block-7"], "system": "Be kind."}
CURRENT: dict[str, Any] = {"agents": [AGENT], "blocks": BLOCKS, "tools": [{"id": "tool-0"}], "metadata": {}}


def agent_file(folder: Path, content: object) -> Path:
    file = folder / "companion.af"
    file.write_text(json.dumps(content))
    return file


class FileDriver(Driver):
    """Agent files with a block for each text."""

    actor = "letta"

    def __init__(self, home: Path, user: str = USER) -> None:
        self.home, self.user = home, user

    def take_in(self, label: str, value: str) -> None:
        folder = self.home.parent / f"{self.user}-{label}"
        folder.mkdir(exist_ok=True)
        block = {"id": "block-0", "label": label, "value": value}
        import_agent_file(agent_file(folder, {**CURRENT, "blocks": [block]}), self.user, home=self.home)

    def remember(self, text: str) -> None:
        self.take_in(text.replace(" ", "-"), text)

    def recalled(self, query: str) -> str:  # noqa: ARG002
        file = self.home.parent / f"{self.user}.af"
        export_agent_file(file, self.user, home=self.home)
        return "\n".join(each["value"] for each in json.loads(file.read_text())["blocks"])

    def replace(self, old: str, new: str) -> None:
        self.take_in(old.replace(" ", "-"), new)

    def refused(self) -> str:
        with pytest.raises(GardenError) as refusal:
            self.take_in("long", "too long " * 200_000)
        return f"{refusal.value} {refusal.value.hint}"

    def resend(self, text: str) -> None:
        for _ in range(2):
            self.remember(text)

    def close(self) -> None:
        """Nothing stays open."""


class TestAgentFiles(Conformance):
    driver = FileDriver


def test_blocks_come_back_exactly_into_the_file_that_they_are_from(garden: Garden, tmp_path: Path) -> None:
    file = agent_file(tmp_path, CURRENT)
    import_agent_file(file, "ada", garden=garden)
    labels = export_agent_file(file, "ada", garden=garden, template=file)
    assert sorted(labels) == ["Open Loops", "human"]
    returned = json.loads(file.read_text())
    filled = [{"description": None, "read_only": False} | each for each in BLOCKS]
    assert returned == {**CURRENT, "blocks": filled}


def test_a_person_edits_a_block_and_adds_one(garden: Garden, tmp_path: Path) -> None:
    file = agent_file(tmp_path, CURRENT)
    import_agent_file(file, "ada", garden=garden)
    fs = garden.session("ada").fs
    fs.edit(HUMAN, "mends", "sells")
    fs.write("users/ada/memories/blocks/boat.md", "A cutter, nine metres.")
    export_agent_file(file, "ada", garden=garden, template=file)
    content = json.loads(file.read_text())
    assert content["blocks"][0]["value"].startswith("Ada sells clocks.")
    assert content["blocks"][-1]["label"] == "boat"
    assert content["blocks"][-1]["value"] == "A cutter, nine metres."
    assert content["agents"][0]["block_ids"] == ["block-0", "block-7", content["blocks"][-1]["id"]]
    assert content["agents"][0]["system"] == "Be kind."


def test_a_file_taken_in_again_changes_only_what_is_new(garden: Garden, tmp_path: Path) -> None:
    first = import_agent_file(agent_file(tmp_path, CURRENT), "ada", garden=garden)
    changed = [{**BLOCKS[0], "value": "Ada sells clocks."}, BLOCKS[1]]
    again = import_agent_file(agent_file(tmp_path, {**CURRENT, "blocks": changed}), "ada", garden=garden)
    assert again == first
    written = ["write_file committed"]
    assert [events_of(garden.session("ada"), path) for path in first] == [written * 2, written]


def test_a_value_longer_than_its_limit_gets_a_limit_that_letta_takes(garden: Garden, tmp_path: Path) -> None:
    garden.session("ada").fs.write(HUMAN, f"---\nlimit: 10\n---\n\n{'long ' * 10}")
    file = tmp_path / "out.af"
    assert export_agent_file(file, "ada", garden=garden) == ["human"]
    content = json.loads(file.read_text())
    [block] = content["blocks"]
    assert block["limit"] == len(block["value"]) == 50
    assert content["agents"][0]["block_ids"] == [block["id"]]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"blocks": 1}',
        '{"blocks": ["x"]}',
        '{"agents": 1, "blocks": []}',
        '{"agents": []}',
        '{"core_memory": []}',
    ],
)
def test_a_template_that_is_no_agent_file_is_refused_and_nothing_written(
    garden: Garden, tmp_path: Path, text: str
) -> None:
    (tmp_path / "template.af").write_text(text)
    with pytest.raises(GardenError, match=r"agent file|can't be read") as refusal:
        export_agent_file(tmp_path / "out.af", "ada", garden=garden, template=tmp_path / "template.af")
    assert refusal.value.hint
    assert not (tmp_path / "out.af").exists()


@pytest.mark.parametrize("head", ["[", "- a\n- b", "label: [1]\nlimit: many\ndescription: {}"])
def test_a_head_that_a_person_broke_is_no_reason_to_fail(garden: Garden, tmp_path: Path, head: str) -> None:
    garden.session("ada").fs.write(HUMAN, f"---\n{head}\n---\n\nWords.")
    assert export_agent_file(tmp_path / "out.af", "ada", garden=garden)
    [block] = json.loads((tmp_path / "out.af").read_text())["blocks"]
    assert "Words." in block["value"]
