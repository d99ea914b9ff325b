"""A first memory, kept and recalled by an MCP client that starts the server as its settings say."""

import asyncio
from collections.abc import Mapping
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

MEMORY = "Wants to sail the Baltic"


def remember(entry: Mapping[str, Any], env: Mapping[str, str]) -> str:
    """Start an entry's command as a client does, store a memory, and return what a search for it finds."""
    return asyncio.run(_remember(entry, env))


async def _remember(entry: Mapping[str, Any], env: Mapping[str, str]) -> str:
    variables = {**env, **entry.get("env", {})}
    server = StdioServerParameters(command=entry["command"], args=entry["args"], env=variables)
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        await session.call_tool("memory_store", {"content": MEMORY})
        recalled = await session.call_tool("memory_recall", {"query": "boats and the sea"})
    return str(recalled.content)
