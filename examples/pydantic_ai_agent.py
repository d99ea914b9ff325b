"""An agent of Pydantic AI with the tools of a garden.

OPENAI_API_KEY=... GARDEN_HOME=my-garden python examples/pydantic_ai_agent.py "I like mint tea."
"""

import asyncio
import sys

from pydantic_ai import Agent
from pydantic_ai.models import Model

from garden.integrations.pydantic_ai import GardenToolset

INSTRUCTIONS = "Keep what is worth knowing with memory_store, and look things up with memory_recall."


async def main(words: str, model: str | Model = "openai:gpt-5") -> None:
    """Answer once."""
    with GardenToolset(profile="lean") as garden:
        answer = await Agent(model, instructions=INSTRUCTIONS, toolsets=[garden]).run(words)
    print(answer.output)


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or "What do you remember of me?"))
