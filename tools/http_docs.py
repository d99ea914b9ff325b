"""Writes docs/http-api.md from what `garden serve` says of itself: `make docs`. A test checks it was done."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from garden.demo.throw_away import throw_away_home

TARGET = Path(__file__).parents[1] / "docs" / "http-api.md"
TOOLS = "/v1/tools/"
_TAKEN_BY_ALL = "X-Request-Id"
SERVED = [sys.executable, "-m", "garden", "serve", "--user", "ada", "--port", "0"]
HEAD = """\
# HTTP routes

Made by `make docs` from the service's own OpenAPI document, which it gives at `/openapi.json`, with all
schemas. The [HTTP guide](http.md) shows the routes in use.

Every route takes a header `X-Request-Id`, an id of your own: it comes back with the answer and is in the log.
"""
REFUSALS = """\
## Refusals

Every route may refuse with these, as `application/problem+json`:

| status | what it says |
|---|---|
"""

Described = Mapping[str, Any]


def page(document: Described) -> str:
    """Write the page from an OpenAPI document."""
    routes: defaultdict[str, list[str]] = defaultdict(list)
    tools: list[str] = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if path.startswith(TOOLS) and method == "post":
                name = path.removeprefix(TOOLS)
                tools.append(
                    f"| `POST {path}` | [{operation['summary']}](tools.md#{name.replace('.', '')}) |"
                )
            else:
                routes[operation["tags"][0]].append("\n".join(_route(document, method, path, operation)))
    sections = [f"## {tag.capitalize()}\n\n" + "\n".join(told) for tag, told in routes.items()]
    called = ["## Calling a tool\n", "| route | what it does |\n|---|---|", *tools, ""]
    return "\n".join([HEAD, *called, *sections, REFUSALS + "\n".join(_refusals(document))]) + "\n"


def served_document(home: Path) -> Described:
    """Ask a service on this home for its document."""
    environment = {**os.environ, "GARDEN_HOME": str(home)}
    with subprocess.Popen(SERVED, env=environment, stdout=subprocess.PIPE, text=True) as service:
        try:
            address = service.stdout.readline().split()[-1] if service.stdout else ""
            asking = HTTPConnection(urlsplit(address).netloc)
            asking.request("GET", "/openapi.json")
            document: Described = json.load(asking.getresponse())
            asking.close()
        finally:
            service.terminate()
    return document


def _route(document: Described, method: str, path: str, operation: Described) -> Iterator[str]:
    yield f"### {method.upper()} {path}\n"
    told: str = operation.get("description", operation["summary"])
    yield f"{told}\n" if told.endswith((".", "?")) else f"{told}.\n"
    parameters = [_resolved(document, each) for each in operation.get("parameters", ())]
    parameters = [each for each in parameters if each["name"] != _TAKEN_BY_ALL]
    if parameters:
        yield "| parameter | where | what it is |\n|---|---|---|"
        for each in parameters:
            said = each.get("description", "").replace("|", "\\|")
            yield f"| `{each['name']}` | {each['in']} | {said} |"
        yield ""
    answers = operation["responses"].items()
    for status, answer in ((status, answer) for status, answer in answers if status < "400"):
        kinds = ", ".join(f"`{kind}`" for kind in answer.get("content", ()))
        yield f"Answers {status}{f' with {kinds}' if kinds else ''}: {answer['description']}\n"


def _refusals(document: Described) -> Iterator[str]:
    for name, response in sorted(document["components"]["responses"].items()):
        yield f"| {name.removeprefix('Refused')} | {response['description']} |"


def _resolved(document: Described, value: Described) -> Described:
    found: Any = document
    for part in value["$ref"].removeprefix("#/").split("/") if "$ref" in value else ():
        found = found[part]
    return value if found is document else found


def main() -> None:
    """Write the file."""
    with throw_away_home() as home:
        TARGET.write_text(page(served_document(home.path)), encoding="utf-8")


if __name__ == "__main__":
    main()
