"""Claude: conversations, memory, and projects with their instructions and texts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from garden.transfer.formats.chats import Turn, chat_entries, chats_in
from garden.transfer.formats.entry import Entry, object_in, records_in, text_in, time_in
from garden.transfer.formats.source import ForeignExportError, Source, open_source

_SPEAKERS = {"human": "You", "assistant": "Claude"}
_LISTS = ("conversations", "projects", "memories")


def read_claude(file: Path) -> Iterator[Entry]:
    """Read an export, or one of its JSON files alone."""
    with open_source(file) as source:
        if not any(_files(source, name) for name in _LISTS):
            raise ForeignExportError(
                "This is no export of Claude: it has no conversations.json, projects.json or memories.json.",
                hint="Name the zip that Claude sent, the folder it unpacks to, or one of these files.",
            )
        projects = {text_in(each, "uuid"): each for each in _records(source, "projects")}
        for record in _records(source, "memories"):
            yield from _memories(record, projects)
        for project in projects.values():
            yield from _project(project)
        for name in _files(source, "conversations"):
            for chat in chats_in(source, name, "chat_messages"):
                yield from _chat(chat)


def _files(source: Source, name: str) -> list[str]:
    """The file of a list, or the files of its records, which newer exports keep in a folder."""
    return [
        each
        for each in source.files
        if each.endswith(".json") and name in (each.split("/")[-1][:-5], *each.split("/")[-2:-1])
    ]


def _records(source: Source, name: str) -> Iterator[dict[str, Any]]:
    for file in _files(source, name):
        content = source.json(file)
        yield from records_in([content] if isinstance(content, dict) else content)


def _memories(record: dict[str, Any], projects: dict[str, dict[str, Any]]) -> Iterator[Entry]:
    owner = text_in(record, "account_uuid")
    if words := text_in(record, "conversations_memory"):
        yield Entry(id=f"memory:{owner}", text=f"{words.strip()}\n", place=("claude", "memory"))
    for project, words in object_in(record, "project_memories").items():
        if isinstance(words, str) and words.strip():
            name = text_in(projects.get(project, {}), "name") or project
            yield Entry(id=f"memory:{project}", text=f"{words.strip()}\n", place=("claude", name, "memory"))


def _project(project: dict[str, Any]) -> Iterator[Entry]:
    name, key = text_in(project, "name") or "project", text_in(project, "uuid", "name")
    began, changed = time_in(project, "created_at"), time_in(project, "updated_at")
    parts = [text_in(project, "description"), text_in(project, "prompt_template")]
    text = "\n\n".join([f"# {' '.join(name.split())}", *(each.strip() for each in parts if each)])
    place = ("claude", name, "project")
    yield Entry(id=key, text=f"{text}\n", place=place, at=began, changed_at=changed)
    for doc in records_in(project.get("docs")):
        title = text_in(doc, "filename", "file_name") or "text"
        yield Entry(
            id=text_in(doc, "uuid") or f"{key}/{title}",
            text=text_in(doc, "content"),
            place=("claude", name, title.removesuffix(".md")),
            at=time_in(doc, "created_at"),
        )


def _chat(chat: dict[str, Any]) -> Iterator[Entry]:
    turns = [
        Turn(_SPEAKERS[sender], time_in(message, "created_at"), words)
        for message in records_in(chat.get("chat_messages"))
        if (sender := text_in(message, "sender")) in _SPEAKERS and (words := _words(message)).strip()
    ]
    title = text_in(chat, "name") or "Conversation"
    times = time_in(chat, "created_at"), time_in(chat, "updated_at")
    return chat_entries("claude", text_in(chat, "uuid") or title, title, times, turns)


def _words(message: dict[str, Any]) -> str:
    """The text of a message: its blocks of text, or else the field of older exports."""
    blocks = [
        text_in(each, "text") for each in records_in(message.get("content")) if each.get("type") == "text"
    ]
    return "\n\n".join(filter(None, blocks)) or text_in(message, "text")
