"""The garden over MCP, through an agent's own client: list the tools, call some, read a resource.

    GARDEN_HOME=my-garden python examples/mcp_agent.py

It starts `garden mcp --user tilda-quill` and talks to it over stdin and stdout, with the protocol's official
client. The same calls work over HTTP: give Client the address of `garden serve` and /mcp.
"""

import asyncio
import os
import sys

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

USER = "tilda-quill"
NOTES = f"users/{USER}/notes.md"
# The client passes on only these environment variables.
PASSED_ON = ("GARDEN_HOME", "PYTHONPATH")


async def main() -> None:
    """Remember something, and read it back."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "garden", "mcp", "--user", USER],
        env={name: os.environ[name] for name in PASSED_ON if name in os.environ},
    )
    async with Client(stdio_client(server)) as client:
        tools = (await client.list_tools()).tools
        # Hand these to your model, which chooses by name and description.
        print(f"{len(tools)} tools, such as {tools[0].name}: {tools[0].description}")

        await client.call_tool("md_plant", {"path": NOTES, "title": "Notes"})
        noted = await client.call_tool("fs_append", {"path": NOTES, "text": "- She read aloud again."})
        # The whole envelope, as on every other surface; `content` holds the same as text.
        envelope = noted.structured_content or {}
        print("fs_append recorded the event", envelope["meta"]["eventId"])

        refused = await client.call_tool("fs_delete", {"path": NOTES})
        print("fs_delete:", (refused.structured_content or {})["error"]["hint"])

        resource = await client.read_resource(f"garden://{NOTES}")
        print(f"{resource.contents[0].uri} can be read as a resource.")


if __name__ == "__main__":
    asyncio.run(main())
