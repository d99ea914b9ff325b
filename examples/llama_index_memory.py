"""A chat of LlamaIndex whose long-term memory is a garden.

    GARDEN_HOME=my-garden python examples/llama_index_memory.py "I like mint tea." "Which tea do I like?"

The model is LlamaIndex's own mock, which repeats its prompt; put yours in its place.
"""

import asyncio
import sys

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.memory import Memory

from garden.integrations.llama_index import GardenMemoryBlock


async def main(*messages: str, model: LLM | None = None) -> None:
    """Say each message. The chat keeps few tokens, so that what was said soon moves to the garden."""
    garden = GardenMemoryBlock(tokens=500)
    memory = Memory.from_defaults(
        "porch", token_limit=700, chat_history_token_ratio=0.02, token_flush_size=1, memory_blocks=[garden]
    )
    chat = SimpleChatEngine.from_defaults(llm=model or MockLLM(), memory=memory)
    for message in messages:
        print(await chat.achat(message))
    garden.close()


if __name__ == "__main__":
    asyncio.run(main(*(sys.argv[1:] or ["What do you remember of me?"])))
