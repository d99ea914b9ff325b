"""One client for each way to reach a contestant: a driver's pipe, MCP over stdio, HTTP."""

import http.client
import json
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar
from urllib.parse import urlsplit

from benchmarks.contestants.installing import LeftOutError
from benchmarks.work import Edit
from tests.support.mcp_lines import Lines

Asked = TypeVar("Asked")
Env: TypeAlias = dict[str, str] | None
Asking: TypeAlias = Callable[[Asked], tuple[str, dict[str, Any]]]


class Took(NamedTuple):
    """The time of one call, and the CPU time of the contestant's process where it can be had."""

    seconds: float
    cpu: float | None = None


class Client(ABC):
    """Asks one contestant for edits and reads, one after the other or all at once."""

    process: subprocess.Popen[Any]
    timed = "by the client"

    @abstractmethod
    def edit(self, edit: Edit) -> Took: ...

    @abstractmethod
    def read(self, document: str) -> tuple[Took, str]: ...

    def together(self, edits: list[Edit]) -> list[bool]:
        """Send all edits at once; return which of them were acknowledged."""
        raise NotImplementedError

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()


class Driver(Client):
    """A library in a process of its own; the times are taken in that process."""

    timed = "in process"

    def __init__(self, python: Path | str, module: str, folder: Path, database: str) -> None:
        program = Path(__file__).with_name("driver.py")
        self.process = subprocess.Popen(
            [python, program, module, folder, database],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if self._line() != "ready":
            raise LeftOutError(f"{module} did not start")

    def edit(self, edit: Edit) -> Took:
        return Took(**self._ask("edit", **_words(edit)))

    def read(self, document: str) -> tuple[Took, str]:
        answer = self._ask("read", document=document)
        return Took(answer["seconds"]), answer["text"]

    def together(self, edits: list[Edit]) -> list[bool]:
        return self.run([[edit] for edit in edits])

    def run(self, lanes: list[list[Edit]]) -> list[bool]:
        """Make the edits of each lane one after the other, all lanes at once."""
        answer = self._ask("run", lanes=[[_words(edit) for edit in lane] for lane in lanes])
        return [acknowledged for lane in answer for acknowledged in lane]

    def _ask(self, what: str, **arguments: Any) -> Any:
        assert self.process.stdin is not None
        print(json.dumps({"do": what, **arguments}), file=self.process.stdin, flush=True)
        return json.loads(self._line())

    def _line(self) -> str:
        assert self.process.stdout is not None
        return str(self.process.stdout.readline()).strip()


def _words(edit: Edit) -> dict[str, str]:
    return {"document": edit.document, "anchor": edit.anchor, "old": edit.old, "new": edit.new}


class McpServer(Client):
    """A server on a pipe; the times are taken here. `editing` and `reading` make a tool's arguments."""

    def __init__(
        self,
        command: list[str | Path],
        editing: Asking[Edit],
        reading: Asking[str],
        env: dict[str, str] | None = None,
    ) -> None:
        self._lines = Lines(command, env, stderr=subprocess.DEVNULL)
        self.process, self._editing, self._reading = self._lines.process, editing, reading
        self._lines.greet()

    def edit(self, edit: Edit) -> Took:
        return self._timed(*self._editing(edit))[0]

    def read(self, document: str) -> tuple[Took, str]:
        return self._timed(*self._reading(document))

    def together(self, edits: list[Edit]) -> list[bool]:
        calls = [dict(zip(("name", "arguments"), self._editing(edit), strict=True)) for edit in edits]
        sent = [self._lines.send("tools/call", call) for call in calls]
        answers = [self._lines.answer_to(number) for number in sent]
        return [not _refusal(answer.get("result", {"isError": True})) for answer in answers]

    def _timed(self, tool: str, arguments: dict[str, Any]) -> tuple[Took, str]:
        started = time.perf_counter()
        result = self._lines.call(tool, **arguments)
        took = time.perf_counter() - started
        if _refusal(result):
            raise RuntimeError(json.dumps(result)[:500])
        return Took(took), "\n".join(part.get("text", "") for part in result["content"])


def _refusal(result: dict[str, Any]) -> bool:
    # One of the servers reports a failed edit as text.
    return bool(result.get("isError")) or result["content"][0].get("text", "").startswith("# Edit Failed")


def garden_mcp(home: Path, user: str) -> McpServer:
    """Start `garden mcp`."""
    words = ["-m", "garden", "--home", str(home), "mcp", "--user", user, "--actor", "companion"]
    return McpServer(
        [sys.executable, *words],
        lambda edit: ("md_patch_section", _garden_edit(user, edit)),
        lambda document: ("fs_read", {"path": f"users/{user}/{document}"}),
    )


def file_server(program: Path, folder: Path) -> McpServer:
    """Start the protocol's own server for plain files, from npm."""

    def editing(edit: Edit) -> tuple[str, dict[str, Any]]:
        edits = [{"oldText": edit.old, "newText": edit.new}]
        return "edit_file", {"path": str(folder / edit.document), "edits": edits}

    def reading(document: str) -> tuple[str, dict[str, Any]]:
        return "read_text_file", {"path": str(folder / document)}

    return McpServer(["node", program, folder], editing, reading)


def basic_memory(program: Path, folder: Path, state: Path) -> McpServer:
    """Start basic-memory, without embeddings, which it would compute after an edit."""

    def editing(edit: Edit) -> tuple[str, dict[str, Any]]:
        # Its section begins below the heading, so the anchor belongs to the words.
        content = f"<!-- @anchor: {edit.anchor} -->\n\n{edit.new}"
        named = {"identifier": edit.document, "section": f"## {edit.heading}", "content": content}
        return "edit_note", {"operation": "replace_section", "project": "main", **named}

    def reading(document: str) -> tuple[str, dict[str, Any]]:
        return "read_note", {"identifier": document, "project": "main"}

    own = {"HOME": folder, "CONFIG_DIR": state, "SEMANTIC_SEARCH_ENABLED": "false", "AUTO_UPDATE": "false"}
    env = {"PATH": "/usr/bin:/bin", "HOME": str(state)}
    env |= {f"BASIC_MEMORY_{name}": str(value) for name, value in own.items()}
    return McpServer([program, "mcp"], editing, reading, env)


def _garden_edit(user: str, edit: Edit) -> dict[str, Any]:
    path, change = f"users/{user}/{edit.document}", {"replace": edit.new}
    return {"path": path, "sectionAnchor": edit.anchor, "change": change, "rationale": "She said so."}


class GardenHttp(Client):
    """`garden serve`, over one connection that stays open."""

    def __init__(self, home: Path, user: str) -> None:
        self._user = user
        words = ["-m", "garden", "--home", str(home), "serve", "--port", "0", "--user", user, "--open"]
        self.process = subprocess.Popen(
            [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        self._address = urlsplit(self.process.stdout.readline().split()[-1])
        self._connection = self._connected()
        self._used = time.monotonic()

    def edit(self, edit: Edit) -> Took:
        return self._timed("md.patch_section", _garden_edit(self._user, edit))[0]

    def read(self, document: str) -> tuple[Took, str]:
        took, answer = self._timed("fs.read", {"path": f"users/{self._user}/{document}"})
        return took, str(answer["result"])

    def together(self, edits: list[Edit]) -> list[bool]:
        def acknowledged(edit: Edit) -> bool:
            args = _garden_edit(self._user, edit)
            return bool(self._post(self._connected(), "md.patch_section", args)["ok"])

        with ThreadPoolExecutor(len(edits)) as threads:
            return list(threads.map(acknowledged, edits))

    def _timed(self, tool: str, args: dict[str, Any]) -> tuple[Took, dict[str, Any]]:
        if time.monotonic() - self._used > 1:
            # The server closes a connection that no client uses.
            self._connection.close()
            self._connection.connect()
        started = time.perf_counter()
        answer = self._post(self._connection, tool, args)
        took, self._used = time.perf_counter() - started, time.monotonic()
        if not answer["ok"]:
            raise RuntimeError(answer["error"]["message"])
        return Took(took), answer

    def _post(
        self, connection: http.client.HTTPConnection, tool: str, args: dict[str, Any]
    ) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", f"/v1/tools/{tool}", json.dumps(args).encode(), headers)
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
        return answer

    def _connected(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._address.hostname or "", self._address.port)
