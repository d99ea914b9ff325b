"""ChatGPT: conversations, what its memory was told in them, custom instructions, and a list of memories.

An export keeps each conversation as a tree of messages; the branch that ends at `current_node` was seen last.
A message to the recipient `bio` is one that the memory keeps.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from garden.transfer.formats.chats import Turn, chat_entries, chats_in
from garden.transfer.formats.entry import Entry, list_in, object_in, records_in, text_in, time_in
from garden.transfer.formats.source import ForeignExportError, Source, open_source

_CHATS = re.compile(r"(?:.*/)?conversations(?:-[0-9]+)?\.json")
_MEMORIES = ("memory.json", "memories.json")
_SPEAKERS = {"user": "You", "assistant": "ChatGPT"}
_SHOWN = ("text", "multimodal_text")
_INSTRUCTIONS = (
    ("about_user_message", "user_profile", "About me"),
    ("about_model_message", "user_instructions", "How to answer"),
)


def read_chatgpt(file: Path) -> Iterator[Entry]:
    """Read an export, or its `conversations.json` alone."""
    with open_source(file) as source:
        chats = [name for name in source.files if _CHATS.fullmatch(name)]
        lists = source.named(*_MEMORIES)
        if not chats and not lists:
            raise ForeignExportError(
                "This is no export of ChatGPT: it has no conversations.json.",
                hint="Name the zip that ChatGPT sent, the folder it unpacks to, or its conversations.json.",
            )
        for name in lists:
            yield from _listed_memories(source, name)
        instructions: list[Entry] = []
        for name in chats:
            for chat in chats_in(source, name, "mapping"):
                messages = list(_messages(chat))
                yield from _memories(messages)
                # Each conversation repeats those of its time.
                instructions = sorted([*instructions, *_instructions(messages)], key=_age)[-1:]
                yield from _chat(chat, messages)
        yield from instructions


def _age(entry: Entry) -> float:
    return entry.at.timestamp() if entry.at else 0.0


def _messages(chat: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The messages of the branch that was seen last, oldest first."""
    mapping = object_in(chat, "mapping")
    way: dict[str, dict[str, Any]] = {}
    at = chat.get("current_node") or next(reversed(mapping), None)
    # A tree that bites its own tail ends where it began.
    while isinstance(at, str) and at not in way and isinstance(mapping.get(at), dict):
        way[at] = mapping[at]
        at = mapping[at].get("parent")
    for name, node in reversed(way.items()):
        message = object_in(node, "message")
        if message:
            times = {"create_time": message.get("create_time") or chat.get("create_time")}
            yield {"id": name, **message, **times}


def _memories(messages: list[dict[str, Any]]) -> Iterator[Entry]:
    for message in messages:
        if message.get("recipient") == "bio":
            for number, line in enumerate(filter(str.strip, _words(message).splitlines())):
                number_in_id = f"-{number}" if number else ""
                yield Entry(
                    id=f"{message['id']}{number_in_id}", text=line.strip(), at=time_in(message, "create_time")
                )


def _listed_memories(source: Source, name: str) -> Iterator[Entry]:
    content = source.json(name)
    records = records_in(content.get("memories") if isinstance(content, dict) else content)
    for record in records:
        text = text_in(record, "content", "memory", "text")
        yield Entry(
            id=text_in(record, "id") or text,
            text=text,
            at=time_in(record, "created_at", "create_time"),
            changed_at=time_in(record, "updated_at", "update_time"),
            skip_reason="It is turned off." if record.get("enabled") is False else None,
        )


def _instructions(messages: list[dict[str, Any]]) -> Iterator[Entry]:
    for message in messages:
        content, told = object_in(message, "content"), object_in(message, "metadata")
        told = object_in(told, "user_context_message_data")
        parts = [
            f"## {title}\n\n{words.strip()}\n"
            for short, long, title in _INSTRUCTIONS
            if (words := text_in(told, short) or text_in(content, long))
        ]
        if parts:
            text = "\n".join(["# Custom instructions\n", *parts])
            at = time_in(message, "create_time")
            yield Entry(id="custom-instructions", text=text, place=("chatgpt", "custom instructions"), at=at)


def _chat(chat: dict[str, Any], messages: list[dict[str, Any]]) -> Iterator[Entry]:
    turns = [
        Turn(_SPEAKERS[role], time_in(message, "create_time"), words)
        for message in messages
        if (role := text_in(object_in(message, "author"), "role")) in _SPEAKERS
        and message.get("recipient", "all") == "all"
        and not object_in(message, "metadata").get("is_visually_hidden_from_conversation")
        and (words := _words(message)).strip()
    ]
    title = text_in(chat, "title") or "Conversation"
    times = time_in(chat, "create_time"), time_in(chat, "update_time")
    return chat_entries("chatgpt", text_in(chat, "conversation_id", "id") or title, title, times, turns)


def _words(message: dict[str, Any]) -> str:
    content = object_in(message, "content")
    if content.get("content_type", "text") not in _SHOWN:
        return ""
    return "\n\n".join(each for each in list_in(content, "parts") if isinstance(each, str))
