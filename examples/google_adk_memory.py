"""An agent of Google's ADK that remembers earlier sessions in a garden.

    GOOGLE_API_KEY=... GARDEN_HOME=my-garden python examples/google_adk_memory.py "I like mint tea."

Run it again with a question about the tea. Each session is a file in users/ada/memories/adk/kitchen/.
"""

import asyncio
import sys

from google.adk.agents import Agent
from google.adk.models.base_llm import BaseLlm
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.load_memory_tool import load_memory_tool
from google.genai.types import Content, Part

from garden.integrations.google_adk import GardenMemoryService

APP, USER = "kitchen", "ada"


async def main(words: str, model: str | BaseLlm = "gemini-3.5-flash") -> None:
    """Answer once, and keep the session."""
    agent = Agent(name="Companion", model=model, tools=[load_memory_tool])
    sessions = InMemorySessionService()
    with GardenMemoryService() as garden:
        runner = Runner(agent=agent, app_name=APP, session_service=sessions, memory_service=garden)
        session = await sessions.create_session(app_name=APP, user_id=USER)
        message = Content(role="user", parts=[Part(text=words)])
        async for event in runner.run_async(user_id=USER, session_id=session.id, new_message=message):
            if event.is_final_response() and event.content:
                print("".join(part.text or "" for part in event.content.parts or ()))
        said = await sessions.get_session(app_name=APP, user_id=USER, session_id=session.id)
        await garden.add_session_to_memory(said)


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or "What do you remember of me?"))
