"""LlamaIndex: a memory block. It gives the context for a question and keeps the messages that leave the chat.

memory = Memory.from_defaults(memory_blocks=[GardenMemoryBlock()])
"""

import json
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from garden.application import Garden
from garden.integrations.documents import append_text
from garden.integrations.message_items import list_item, plain_words
from garden.integrations.naming import document_name
from garden.integrations.opening import UserGarden, missing_extra

try:
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.llms import ChatMessage
    from llama_index.core.memory import BaseMemoryBlock
except ModuleNotFoundError as missing:
    raise missing_extra("llama-index", missing) from None

_CHARACTERS_PER_TOKEN = 4
_TOKENS_MIN = 100
_QUESTION_CHARACTERS_MAX = 2000
_SESSION = "session_id"


class GardenMemoryBlock(BaseMemoryBlock[str]):
    """The memory of one user's garden; a session's messages are kept in `memories/llama-index/`."""

    name: str = "garden"
    tokens: int = Field(default=2000, ge=_TOKENS_MIN, description="Most tokens of the block.")
    _opening: UserGarden = PrivateAttr()

    def __init__(
        self,
        user: str = "me",
        *,
        home: str | Path | None = None,
        actor: str = "llama-index",
        garden: Garden | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(**fields)
        self._opening = UserGarden(user, actor=actor, home=home, garden=garden)

    def close(self) -> None:
        """Close the garden, unless it was given."""
        self._opening.close()

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        question = next((words for each in reversed(messages or []) if (words := _words(each))), None)
        return await self._context(question, self.tokens)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        by_session: dict[str, list[ChatMessage]] = {}
        for each in messages:
            session = str(each.additional_kwargs.get(_SESSION) or "chat")
            by_session.setdefault(session, []).append(each)
        for session, said in by_session.items():
            await self._opening.run(partial(self._keep, session, said))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Make a smaller block, without what only the question found."""
        left = len(content) // _CHARACTERS_PER_TOKEN - tokens_to_truncate
        return await self._context(None, left) if left >= _TOKENS_MIN else None

    async def _context(self, question: str | None, tokens: int) -> str:
        fields = {"query": question and question[:_QUESTION_CHARACTERS_MAX], "tokens": tokens}
        found = await self._opening.run(partial(self._opening.ask, "memory.context", fields))
        return str(found.text)

    def _keep(self, session: str, messages: list[ChatMessage]) -> None:
        items = [list_item(f"{each.role.value}: {words}") for each in messages if (words := _words(each))]
        if items:
            path = f"users/{self._opening.user}/memories/llama-index/{document_name(session)}.md"
            # The same messages of a session, sent again, are kept once.
            key = sha256(json.dumps([session, items]).encode()).hexdigest()
            append_text(self._opening, path, "\n\n".join(items), title=session, key=f"llama-index {key}")


def _words(message: ChatMessage) -> str:
    return plain_words(message.content or "")
