"""The tokens that a list of tools costs a model, by a real tokenizer and by characters, beside others."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tokenizers import Tokenizer

from benchmarks.contestants.installing import LeftOutError, package
from benchmarks.ratios import Ratio
from garden.demo.throw_away import throw_away_home
from tests.support.mcp_lines import Lines

# Tokens of both profiles may be this many, counted as four characters each.
_REACH = {"lean": 1500, "full": 6000}
_CHARACTERS_OF_A_TOKEN = 4


class Cost(NamedTuple):
    """The tools of a list, its tokens by the tokenizer, and by its characters."""

    tools: int
    tokens: int
    estimate: float

    def __str__(self) -> str:
        return f"{self.tools} tools, {self.tokens} tokens, {self.estimate:.0f} by characters"


def measure() -> Iterator[Ratio]:
    try:
        tokenizer = _tokenizer()
        others = {name: _cost_of_server(name, tokenizer) for name in ("file-server", "memory-server")}
    except LeftOutError as error:
        print(f"  (left out: {error})")
        return
    own = {}
    with throw_away_home() as home:
        for profile, reach in _REACH.items():
            command = ["-m", "garden", "--home", str(home.path), "mcp", "--user", "ada", "--profile", profile]
            own[profile] = _cost([sys.executable, *command], tokenizer)
            title = f"MCP tools, {profile} profile: tokens, four characters each"
            yield Ratio(title, own[profile].estimate, reach, detail=str(own[profile]))
    for name, other in others.items():
        each_costs = [cost.tokens / cost.tools for cost in (own["full"], other)]
        yield Ratio(
            f"MCP tools, lean / {name}: tokens", own["lean"].tokens / other.tokens, 1, detail=str(other)
        )
        yield Ratio(f"MCP tools, full / {name}: tokens per tool", each_costs[0] / each_costs[1], 1)


def _tokenizer() -> Tokenizer:
    """A tokenizer that Anthropic published for Claude, as a wheel from the registry carries it."""
    [found] = package("tokenizer").folder.glob("lib/*/site-packages/**/anthropic_tokenizer.json")
    return Tokenizer.from_file(str(found))


def _cost_of_server(name: str, tokenizer: Tokenizer) -> Cost:
    scope = package(name).folder / "node_modules" / "@modelcontextprotocol"
    [program] = scope.glob("*/dist/index.js")
    with TemporaryDirectory() as folder:
        return _cost(["node", program, folder], tokenizer)


def _cost(command: list[str | Path], tokenizer: Tokenizer) -> Cost:
    with Lines(command, stderr=subprocess.DEVNULL) as server:
        server.greet()
        tools: list[dict[str, Any]] = server.ask("tools/list")["result"]["tools"]
    text = json.dumps({"tools": tools}, ensure_ascii=False, separators=(",", ":"))
    return Cost(len(tools), len(tokenizer.encode(text).ids), len(text) / _CHARACTERS_OF_A_TOKEN)
