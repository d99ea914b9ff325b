"""An agent of the OpenAI Agents SDK that continues its conversation and keeps what it learns in a garden.

    OPENAI_API_KEY=... GARDEN_HOME=my-garden python examples/openai_agents_session.py "I like mint tea."

Run it again: the session goes on. It is a file in users/me/memories/sessions/ of the home.
"""

import sys

from agents import Agent, Runner
from agents.models.interface import Model

from garden.integrations.openai_agents import GardenSession, function_tools

INSTRUCTIONS = "Keep what is worth knowing with memory_store, and look things up with memory_recall."


def main(words: str, model: str | Model = "gpt-5") -> None:
    """Answer once."""
    agent = Agent(
        "Companion", instructions=INSTRUCTIONS, tools=[*function_tools(profile="lean")], model=model
    )
    with GardenSession("kitchen-table") as session:
        print(Runner.run_sync(agent, words, session=session).final_output)


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "What do you remember of me?")
