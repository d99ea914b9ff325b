"""Messages as list items that a person reads and edits, such as `- user: It rained`.

A message that would not be read back from that form as it was is written as JSON.
"""

import json
import re
from typing import Any

Message = dict[str, Any]

_ITEM = re.compile(r"^- [^\n]*(?:\n+  [^\n]*)*(?:\n<!-- \{[^\n]*\} -->)?", re.MULTILINE)
_MESSAGE = re.compile(r"- (?P<words>.*?)(?:\n<!-- (?P<rest>\{[^\n]*\}) -->)?", re.DOTALL)
_WORDS = re.compile(r"(?P<role>[a-z]+): (?P<words>.*)", re.DOTALL)
_MARKUP = re.compile(r"^[^\S\n]*(?:(?:#+|`{3,}|~{3,})[^\S\n]*)+|<!--", re.MULTILINE)


def list_item(text: str) -> str:
    """Return a list item of a text of any number of lines."""
    return "- " + re.sub(r"\n(?=[^\n])", "\n  ", text)


def plain_words(text: str) -> str:
    """Return words without invisible signs, and without Markdown that would end a list item."""
    seen = "".join(each if each.isprintable() or each in "\n\u200c\u200d" else " " for each in text)
    return _MARKUP.sub(lambda found: f"\\{found[0]}" if found[0] == "<!--" else "", seen).strip()


def item_of(message: Message) -> str:
    """Write a message so that it is read back as it was.

    Its words are an item. What else it has is JSON in a comment, which recall does not search.
    """
    words, rest = _split_words(message)
    if words is not None and not _MARKUP.search(words):
        item = list_item(f"{message['role']}: {words}") + (f"\n<!-- {_json(rest)} -->" if rest else "")
        if messages_in(item) == [message]:
            return item
    return f"- {_json(message)}"


def messages_in(text: str) -> list[Message]:
    """Read the messages of a document; anything else in it is a remark of a person."""
    return [message for item in items_in(text) if (message := _message(item)) is not None]


def items_in(text: str) -> list[str]:
    """List the items of a document as they stand in it."""
    return _ITEM.findall(text)


def _message(item: str) -> Message | None:
    parts = _MESSAGE.fullmatch(item)
    inner = parts["words"].replace("\n  ", "\n") if parts else ""
    found = _WORDS.fullmatch(inner)
    try:
        if inner.startswith("{"):
            whole: Message = json.loads(inner)
            return whole
        rest: Message = json.loads(parts["rest"] or "{}") if parts else {}
    except (ValueError, RecursionError):
        return None
    if found is None:
        return None
    return _join_words(found["words"], rest or {"role": found["role"], "content": ""})


def _split_words(message: Message) -> tuple[str | None, Message]:
    """The words of a message and the rest, which is empty if the words and the role are all."""
    content = message.get("content")
    if isinstance(content, list) and content and isinstance(content[0], dict):
        first, words = content[0], content[0].get("text")
        rest = message | {"content": [first | {"text": ""}, *content[1:]]}
    else:
        words, rest = content, message | {"content": ""}
    is_readable = (
        isinstance(words, str)
        and bool(words)
        and words == words.strip()
        and all(line.isprintable() for line in words.split("\n"))
    )
    if not is_readable or not isinstance(message.get("role"), str):
        return None, rest
    return words, {} if rest == {"role": message["role"], "content": ""} else rest


def _join_words(words: str, rest: Message) -> Message | None:
    content = rest.get("content")
    if isinstance(content, list) and content and isinstance(content[0], dict):
        return rest | {"content": [content[0] | {"text": words}, *content[1:]]}
    return rest | {"content": words} if isinstance(content, str) else None


def _json(value: Message) -> str:
    # Two hyphens could begin or end a comment.
    text = json.dumps(value, ensure_ascii=False).replace("--", "-\\u002d")
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)
