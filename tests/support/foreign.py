"""Small exports in the forms of other programs, about the people of the sample gardens."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

BEGAN = 1772612700.5
SAID = "Leander takes the ferry to Ftero.\n\nLeander fears ferries."
CUSTOM = {"about_user_message": "I weigh letters in Tollmere.", "about_model_message": "Be brief."}


def message(node: str, parent: str | None, role: str, words: str, **also: Any) -> dict[str, Any]:
    """A node of a ChatGPT conversation."""
    content = {"content_type": "text", "parts": [words]}
    said = {
        "author": {"role": role},
        "content": content,
        "create_time": 1772612700.5,
        "recipient": "all",
    } | also
    return {"id": node, "message": said, "parent": parent, "children": []}


def chatgpt_chat(**also: Any) -> dict[str, Any]:
    """A conversation with a branch that was given up, a memory and custom instructions."""
    hidden = {"is_visually_hidden_from_conversation": True, "user_context_message_data": CUSTOM}
    nodes = [
        {"id": "root", "message": None, "parent": None, "children": ["a"]},
        message("a", "root", "user", "", content={"content_type": "user_editable_context"}, metadata=hidden),
        message("b", "a", "user", "Which ferry goes to Ftero?"),
        message("given-up", "b", "assistant", "None at all."),
        message(
            "c",
            "b",
            "assistant",
            "Leander takes the ferry to Ftero.\n\nLeander fears ferries.",
            recipient="bio",
        ),
        message("d", "c", "tool", "Model set context updated."),
        message("e", "d", "assistant", "The one at nine."),
    ]
    chat = {
        "id": "chat-1", "conversation_id": "chat-1", "title": "Ferries / ../etc", "current_node": "e",
        "create_time": BEGAN, "update_time": 1772616300, "mapping": {node["id"]: node for node in nodes},
    }  # fmt: skip
    return chat | also


CLAUDE: Mapping[str, Any] = {
    "users.json": [{"uuid": "account-1", "full_name": "Tilda Quill"}],
    "memories.json": [
        {
            "conversations_memory": "**Work**\n\nTilda weighs letters.",
            "project_memories": {"project-1": "The stamps are blue."},
            "account_uuid": "account-1",
        }
    ],
    "projects.json": [
        {
            "uuid": "project-1", "name": "Night post", "description": "The post at night.",
            "prompt_template": "Ask before you weigh.", "created_at": "2026-02-01T08:00:00.000000+00:00",
            "docs": [{"uuid": "doc-1", "filename": "routes.md", "content": "# Routes\n\nBy the river.\n"}],
        }
    ],
    "conversations.json": [
        {
            "uuid": "talk-1", "name": "Stamps", "account": {"uuid": "account-1"},
            "created_at": "2026-02-03T08:25:12.5Z", "updated_at": "2026-02-04",
            "chat_messages": [
                {"sender": "human", "text": "Blue or green?", "created_at": "2026-02-03T08:25Z"},
                {"sender": "assistant", "content": [{"type": "thinking"}, {"type": "text", "text": "Blue."}]},
            ],
        },
        {"uuid": "talk-2", "name": "", "chat_messages": []},
    ],
}  # fmt: skip


def mem0_memory(number: int, words: str, **also: Any) -> dict[str, Any]:
    """A memory as `get_all` of mem0 gives it."""
    return {
        "id": f"mem-{number}", "memory": words, "user_id": "leander", "categories": ["night work"],
        "created_at": "2026-03-04T08:25:00-08:00", "updated_at": "2026-03-05T08:25:00-08:00",
    } | also  # fmt: skip


def put_json(path: Path, value: Any) -> Path:
    """Write a JSON file."""
    path.write_text(json.dumps(value))
    return path


def put_mem0(path: Path, *words: str) -> Path:
    """Write an export of mem0 with these memories."""
    return put_json(path, {"results": [mem0_memory(number, each) for number, each in enumerate(words)]})


def put_zip(path: Path, files: Mapping[str, bytes | str]) -> Path:
    """Write a zip."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def put_notes(folder: Path, notes: Mapping[str, bytes]) -> Path:
    """Write a folder of notes."""
    for name, content in notes.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder
