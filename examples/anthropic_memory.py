"""Claude with a memory that its person can read: Anthropic's memory tool on a garden.

    ANTHROPIC_API_KEY=... GARDEN_HOME=my-garden python examples/anthropic_memory.py "I like mint tea."

Run it again and ask about the tea: Claude looks into /memories first. The files are in users/me/ of the home.
"""

import sys

from anthropic import Anthropic

from garden.integrations.anthropic import GardenMemoryTool


def answer(words: str) -> str:
    """Let Claude answer; it calls the memory tool as often as it likes."""
    with GardenMemoryTool("me") as memory:
        runner = Anthropic().beta.messages.tool_runner(
            model="claude-sonnet-5-5",
            max_tokens=1024,
            tools=[memory],
            messages=[{"role": "user", "content": words}],
        )
        return "".join(block.text for block in runner.until_done().content if block.type == "text")


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:]) or "What do you remember of me?"))
