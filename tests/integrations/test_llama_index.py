"""LlamaIndex: its memory with the garden as a block."""

import asyncio
import re
from pathlib import Path

import pytest
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory
from sqlalchemy.ext.asyncio import create_async_engine

from garden.application import Garden
from garden.grammar.errors import GardenError
from garden.integrations.llama_index import GardenMemoryBlock
from tests.integrations.conformance import LAMP, USER, Conformance, Driver, waited

FOLDER = "users/ada/memories/llama-index"


class BlockDriver(Driver):
    """The block, as the memory of a chat calls it."""

    actor = "llama-index"

    def __init__(self, home: Path, user: str = USER) -> None:
        self.block = GardenMemoryBlock(user, home=home)

    def remember(self, text: str) -> None:
        waited(self.block.aput([ChatMessage(text)], from_short_term_memory=True, session_id="chat-7"))

    def recalled(self, query: str) -> str:
        return waited(self.block.aget([ChatMessage(query)]))

    def refused(self) -> str:
        with pytest.raises(GardenError) as refusal:
            self.remember("too long " * 200_000)
        return f"{refusal.value} {refusal.value.hint}"

    def resend(self, text: str) -> None:
        for _ in range(2):
            self.remember(text)

    def close(self) -> None:
        self.block.close()


class TestBlock(Conformance):
    driver = BlockDriver


@pytest.fixture
def block(garden: Garden) -> GardenMemoryBlock:
    return GardenMemoryBlock("ada", garden=garden, priority=1)


def test_what_leaves_the_chat_is_kept_and_comes_back_with_a_question(
    garden: Garden, block: GardenMemoryBlock
) -> None:
    engine = create_async_engine("sqlite+aiosqlite://")
    memory = Memory.from_defaults(
        "chat-7", token_limit=60, token_flush_size=10, memory_blocks=[block], async_engine=engine
    )

    async def talk() -> list[ChatMessage]:
        for number in range(12):
            await memory.aput(ChatMessage(f"Number {number}: the lamp was lit late, again."))
            await memory.aput(ChatMessage("I see.", role="assistant"))
        memory.token_limit = 2000
        found = await memory.aget(input="Which number had the lamp first?")
        await engine.dispose()
        return found

    system, *_ = asyncio.run(talk())
    assert "user: Number 0: the lamp was lit late, again." in str(system.content)
    kept = str(garden.session("ada").fs.read(f"{FOLDER}/chat-7.md").result)
    assert kept.startswith(
        "# chat-7\n\n- user: Number 0: the lamp was lit late, again.\n\n- assistant: I see.\n"
    )


def test_messages_go_to_the_document_of_their_session(garden: Garden, block: GardenMemoryBlock) -> None:
    async def put() -> None:
        await block.aput([ChatMessage("One."), ChatMessage("")], session_id="Chat A")
        await block.aput([ChatMessage("Two.\n\n# Not a heading <!-- nor a comment -->")])
        await block.aput([ChatMessage("Dropped.")], from_short_term_memory=True, session_id="Chat B")

    block.accept_short_term_memory = False
    asyncio.run(put())
    session = garden.session("ada")
    first, second = (str(session.fs.read(path).result) for path in session.fs.list(FOLDER).result)
    assert [first, second] == [
        "# Chat A\n\n- user: One.\n",
        "# chat\n\n- user: Two.\n\n  Not a heading \\<!-- nor a comment -->\n",
    ]


def test_the_same_messages_sent_again_are_kept_once(garden: Garden, block: GardenMemoryBlock) -> None:
    messages = [ChatMessage("Yes."), ChatMessage("Yes.")]
    for sent in (messages, messages, [*messages, ChatMessage("No.")]):
        waited(block.aput(sent, session_id="chat-7"))
    kept = str(garden.session("ada").fs.read(f"{FOLDER}/chat-7.md").result)
    assert re.findall("user: (.*)", kept) == ["Yes.", "Yes.", "Yes.", "Yes.", "No."]


def test_a_truncated_block_fits_or_is_left_out(garden: Garden, block: GardenMemoryBlock) -> None:
    for number in range(60):
        garden.session("ada").memory.store(f"Number {number}: {LAMP}")
    whole = waited(block.aget([ChatMessage("lamp")]))
    smaller = waited(block.atruncate(whole, 200))
    assert smaller is not None
    assert 0 < len(smaller) // 4 <= len(whole) // 4 - 200
    assert waited(block.atruncate(whole, len(whole) // 4)) is None


def test_a_question_of_any_text_is_answered(block: GardenMemoryBlock) -> None:
    for text in ("", "\x00\x1b[31m", "long " * 5000):
        assert waited(block.aget([ChatMessage(text)])) == ""
    assert waited(block.aget()) == ""
