"""docs/http-api.md, generated from the service's OpenAPI document."""

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from garden.access.threads import CallThreads
from garden.application import Garden
from garden.events.records import Caller
from garden.home.folder import ensure_home
from garden.home.settings import Settings
from garden.home.setup import PreparedHome
from garden.surfaces.web import openapi
from garden.surfaces.web.application import WebService
from garden.surfaces.web.authentication import SingleUserAuthenticator
from garden.upkeep.tasks import Timer
from tools.markdown import prose

TARGET = Path(__file__).parents[1] / "docs" / "http-api.md"
TOOLS = "/v1/tools/"
_TAKEN_BY_ALL = "X-Request-Id"
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


def files() -> dict[Path, str]:
    """Text of the page."""
    return {TARGET: _page(document())}


def document() -> Described:
    """Build the OpenAPI document of `garden serve`; no database is opened."""
    with tempfile.TemporaryDirectory(prefix="garden-docs-") as folder:
        home = ensure_home(Path(folder) / "home")
        prepared = PreparedHome(home, "postgresql:///no-connection-is-made", ())
        with Garden(Settings(home=home.path), prepared) as garden:
            threads, upkeep = CallThreads(), Timer(garden.services, ())
            authenticator = SingleUserAuthenticator(Caller("ada", "companion", "agent"))
            service = WebService(garden, threads, authenticator, {}, upkeep, private=True)
            service.close()
            threads.close()
            return openapi.document(service.api)


def _page(document: Described) -> str:
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


def _route(document: Described, method: str, path: str, operation: Described) -> Iterator[str]:
    yield f"### {method.upper()} {path}\n"
    told = prose(operation.get("description", operation["summary"]))
    yield f"{told}\n" if told.endswith((".", "?")) else f"{told}.\n"
    parameters = [_resolved(document, each) for each in operation.get("parameters", ())]
    parameters = [each for each in parameters if each["name"] != _TAKEN_BY_ALL]
    if parameters:
        yield "| parameter | where | what it is |\n|---|---|---|"
        for each in parameters:
            yield f"| `{each['name']}` | {each['in']} | {prose(each.get('description', ''))} |"
        yield ""
    answers = operation["responses"].items()
    for status, answer in ((status, answer) for status, answer in answers if status < "400"):
        kinds = ", ".join(f"`{kind}`" for kind in answer.get("content", ()))
        yield f"Answers {status}{f' with {kinds}' if kinds else ''}: {answer['description']}\n"


def _refusals(document: Described) -> Iterator[str]:
    for name, response in sorted(document["components"]["responses"].items()):
        yield f"| {name.removeprefix('Refused')} | {prose(response['description'])} |"


def _resolved(document: Described, value: Described) -> Described:
    found: Any = document
    for part in value["$ref"].removeprefix("#/").split("/") if "$ref" in value else ():
        found = found[part]
    return value if found is document else found
