import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest

from garden.surfaces.cli.transfer import ForeignSource
from garden.transfer.foreign_imports import READERS
from garden.transfer.formats.chatgpt import read_chatgpt
from garden.transfer.formats.claude import read_claude
from garden.transfer.formats.entry import Entry
from garden.transfer.formats.letta import read_letta
from garden.transfer.formats.mem0 import read_mem0
from garden.transfer.formats.notes import read_basic_memory, read_obsidian
from garden.transfer.formats.source import ForeignExportError
from tests.support.foreign import CLAUDE, chatgpt_chat, mem0_memory, message, put_json, put_notes, put_zip

BEGAN = datetime(2026, 3, 4, 8, 25, 0, 500000, UTC)


def test_the_command_offers_every_format() -> None:
    assert get_args(ForeignSource) == tuple(READERS)


def _by_id(entries: Any) -> dict[str, Entry]:
    return {entry.id: entry for entry in entries}


def test_chatgpt_gives_the_branch_seen_last_its_memories_and_instructions(folder: Path) -> None:
    file = put_zip(
        folder / "export.zip", {"conversations.json": json.dumps([chatgpt_chat()]), "chat.html": ""}
    )
    found = _by_id(read_chatgpt(file))
    assert list(found) == ["c", "c-1", "chat-1", "custom-instructions"]
    assert (found["c"].text, found["c"].place, found["c"].at) == (
        "Leander takes the ferry to Ftero.",
        (),
        BEGAN,
    )
    chat = found["chat-1"]
    assert chat.text == (
        "# Ferries / ../etc\n\n**You** (2026-03-04 08:25 UTC):\n\nWhich ferry goes to Ftero?\n\n"
        "**ChatGPT** (2026-03-04 08:25 UTC):\n\nThe one at nine.\n"
    )
    assert (chat.at, chat.is_chat, chat.place[:2]) == (BEGAN, True, ("chatgpt", "chats"))
    assert found["custom-instructions"].text == (
        "# Custom instructions\n\n## About me\n\nI weigh letters in Tollmere.\n\n"
        "## How to answer\n\nBe brief.\n"
    )


def test_chatgpt_gives_the_newest_instructions_of_split_files_and_listed_memories(folder: Path) -> None:
    newer = chatgpt_chat(id="chat-2", conversation_id="chat-2")
    newer["mapping"]["a"]["message"]["create_time"] = 1772712700
    newer["mapping"]["a"]["message"]["metadata"] = {
        "user_context_message_data": {"about_user_message": "Moved."}
    }
    put_json(folder / "conversations-000.json", [newer])
    put_json(folder / "conversations-001.json", [chatgpt_chat()])
    listed = [
        {"id": "m", "content": "Mends clocks", "created_at": "2026-03-04"},
        {"content": "x", "enabled": False},
    ]
    put_json(folder / "memory.json", listed)
    found = _by_id(read_chatgpt(folder))
    assert "Moved." in found["custom-instructions"].text
    assert (found["m"].text, found["m"].at) == ("Mends clocks", datetime(2026, 3, 4, tzinfo=UTC))
    assert found["x"].skip_reason == "It is turned off."


def test_a_chatgpt_tree_that_bites_its_tail_ends_and_control_characters_go(folder: Path) -> None:
    loop = {"a": message("a", "b", "user", "\x1b[1mOne\x1b[0m"), "b": message("b", "a", "assistant", "Two")}
    file = put_json(
        folder / "conversations.json", [chatgpt_chat(mapping=loop, current_node="b"), "?", {"id": "empty"}]
    )
    chat, empty = read_chatgpt(file)
    assert (chat.text.count("One"), chat.text.count("Two")) == (1, 1)
    assert "\x1b" not in chat.text
    assert empty.skip_reason == "The conversation has no text."


def test_a_long_conversation_is_cut_between_messages(folder: Path) -> None:
    def read(number: int) -> dict[str, str]:
        messages = [{"sender": "human", "text": f"{each} " * 40_000} for each in range(10, 10 + number)]
        chat = {"uuid": "talk", "name": "Long", "chat_messages": messages}
        found = read_claude(put_json(folder / "conversations.json", chat))
        return {entry.id: entry.text for entry in found if len(entry.text.encode()) < 1 << 20}

    short, long = read(5), read(8)
    assert list(short) == ["talk", "talk 2", "talk 3"]
    assert list(long) == ["talk", "talk 2", "talk 3", "talk 4"]
    assert [short[key] for key in list(short)[:2]] == [long[key] for key in list(short)[:2]]
    assert sum(text.count("**You**") for text in long.values()) == 8


def test_claude_gives_memory_projects_their_texts_and_conversations(folder: Path) -> None:
    file = put_zip(folder / "export.zip", {name: json.dumps(content) for name, content in CLAUDE.items()})
    found = _by_id(read_claude(file))
    assert {key: entry.place for key, entry in found.items()} == {
        "memory:account-1": ("claude", "memory"),
        "memory:project-1": ("claude", "Night post", "memory"),
        "project-1": ("claude", "Night post", "project"),
        "doc-1": ("claude", "Night post", "routes"),
        "talk-1": ("claude", "chats", "2026-02-03 Stamps"),
        "talk-2": (),
    }
    assert found["project-1"].text == "# Night post\n\nThe post at night.\n\nAsk before you weigh.\n"
    assert found["doc-1"].text == "# Routes\n\nBy the river.\n"
    assert found["talk-1"].text == (
        "# Stamps\n\n**You** (2026-02-03 08:25 UTC):\n\nBlue or green?\n\n**Claude**:\n\nBlue.\n"
    )
    assert found["talk-2"].skip_reason


def test_mem0_gives_memories_with_times_and_categories(folder: Path) -> None:
    [entry] = read_mem0(put_json(folder / "all.json", [mem0_memory(1, "Works at night")]))
    assert (entry.id, entry.text, entry.tags) == ("mem-1", "Works at night", ("night work",))
    assert entry.at == datetime(2026, 3, 4, 16, 25, tzinfo=UTC)
    two = {"memories": [mem0_memory(1, "One"), mem0_memory(2, "Two", user_id="tilda")]}
    with pytest.raises(ForeignExportError, match="2 users"):
        list(read_mem0(put_json(folder / "two.json", two)))


def test_notes_keep_every_byte_and_their_dates_in_a_folder_and_in_a_zip(folder: Path) -> None:
    plan = b"---\ntags: [boat]\ncreated: 2026-01-02T09:00\nid: mine\n---\r\n# Boat\n\n[[Crew]] \n"
    notes = {
        "Boat/Plan.md": plan,
        "Crew.md": b"\xef\xbb\xbfWren",
        ".obsidian/app.json": b"{}",
        "a.png": b"\x89",
    }
    vault = put_notes(folder / "vault", notes)
    found = _by_id(read_obsidian(vault))
    assert set(found) == {"vault/Boat/Plan.md", "vault/Crew.md", "vault/a.png"}
    assert found["vault/Boat/Plan.md"].text.encode() == plan
    assert found["vault/Boat/Plan.md"].at == datetime(2026, 1, 2, 9, tzinfo=UTC)
    assert found["vault/Boat/Plan.md"].place == ("obsidian", "Boat", "Plan")
    assert found["vault/Crew.md"].text.encode() == notes["Crew.md"]
    assert found["vault/a.png"].skip_reason
    packed = put_zip(folder / "other.zip", {f"vault/{name}": content for name, content in notes.items()})
    assert _by_id(read_obsidian(packed)) == found


def test_basic_memory_keeps_observations_and_relations(folder: Path) -> None:
    note = b"---\ntitle: Boat\npermalink: boat\n---\n\n- [fact] It leaks #boat (old)\n- needs [[Tar]]\n"
    [entry] = read_basic_memory(put_notes(folder / "notes", {"boat/Boat.md": note}))
    assert (entry.text.encode(), entry.place) == (note, ("basic-memory", "boat", "Boat"))


@pytest.mark.parametrize("key", ["blocks", "core_memory"])
def test_letta_gives_the_blocks_of_both_forms(folder: Path, key: str) -> None:
    human = {
        "label": "human",
        "value": "# Leander\n",
        "description": "Who it is",
        "limit": 5000,
        "read_only": False,
    }
    file = put_json(
        folder / "agent.af", {"agents": [{"id": "agent-0", "name": "Tick"}], key: [human, {"value": 1}]}
    )
    entry, broken = read_letta(file)
    assert entry.place == ("blocks", "human")
    assert entry.text == "---\nlabel: human\ndescription: Who it is\nlimit: 5000\n---\n\n# Leander\n"
    assert broken.skip_reason


def test_blocks_of_one_name_are_told_apart_by_their_agents(folder: Path) -> None:
    agents = [{"name": "Tick", "block_ids": ["block-0"]}, {"name": "Tock", "block_ids": ["block-1"]}]
    blocks = [{"id": f"block-{number}", "label": "human", "value": str(number)} for number in range(2)]
    found = read_letta(put_json(folder / "agent.af", {"agents": agents, "blocks": blocks}))
    assert [entry.id for entry in found] == ["Tick/human", "Tock/human"]


def test_conversations_of_another_program_are_refused(folder: Path) -> None:
    put_json(folder / "conversations.json", CLAUDE["conversations.json"])
    with pytest.raises(ForeignExportError, match="has no conversations as this program"):
        list(read_chatgpt(folder))
    put_json(folder / "conversations.json", [chatgpt_chat()])
    with pytest.raises(ForeignExportError, match="has no conversations as this program"):
        list(read_claude(folder))


@pytest.mark.parametrize("source", READERS)
def test_another_programs_file_is_refused_with_a_hint(folder: Path, source: str) -> None:
    for content in ({}, [], [1], {"title": None}):
        file = put_json(folder / "other.json", content)
        with pytest.raises(ForeignExportError) as refused:
            list(READERS[source](file))
        assert refused.value.hint
