"""One client for each way to reach a contestant: a driver's pipe, MCP over stdio, HTTP."""

import http.client
import json
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from benchmarks.contestants.installing import LeftOutError
from benchmarks.work import Edit
from tests.support.mcp_lines import Lines


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
    """A server on a pipe; the times are taken here."""

    def __init__(self, command: list[str | Path], env: Mapping[str, str] | None = None) -> None:
        self._lines = Lines(command, env, stderr=subprocess.DEVNULL)
        self.process = self._lines.process
        self._lines.greet()

    @abstractmethod
    def editing(self, edit: Edit) -> tuple[str, dict[str, Any]]:
        """Return the tool and its arguments for an edit."""

    @abstractmethod
    def reading(self, document: str) -> tuple[str, dict[str, Any]]:
        """Return the tool and its arguments for a read."""

    def edit(self, edit: Edit) -> Took:
        return self._timed(*self.editing(edit))[0]

    def read(self, document: str) -> tuple[Took, str]:
        return self._timed(*self.reading(document))

    def together(self, edits: list[Edit]) -> list[bool]:
        sent = [self._lines.send("tools/call", _call(*self.editing(edit))) for edit in edits]
        answers = [self._lines.answer_to(number) for number in sent]
        return [not _refusal(answer.get("result", {"isError": True})) for answer in answers]

    def _timed(self, tool: str, arguments: dict[str, Any]) -> tuple[Took, str]:
        started = time.perf_counter()
        result = self._lines.call(tool, **arguments)
        took = time.perf_counter() - started
        if _refusal(result):
            raise RuntimeError(json.dumps(result)[:500])
        return Took(took), "\n".join(part.get("text", "") for part in result["content"])


def _call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"name": tool, "arguments": arguments}


def _refusal(result: dict[str, Any]) -> bool:
    # One of the servers reports a failed edit as text.
    return bool(result.get("isError")) or result["content"][0].get("text", "").startswith("# Edit Failed")


class GardenMcp(McpServer):
    """`garden mcp`."""

    def __init__(self, home: Path, user: str) -> None:
        self._user = user
        words = ["-m", "garden", "--home", str(home), "mcp", "--user", user, "--actor", "companion"]
        super().__init__([sys.executable, *words])

    def editing(self, edit: Edit) -> tuple[str, dict[str, Any]]:
        return "md_patch_section", garden_edit(self._user, edit)

    def reading(self, document: str) -> tuple[str, dict[str, Any]]:
        return "fs_read", {"path": f"users/{self._user}/{document}"}


def garden_edit(user: str, edit: Edit) -> dict[str, Any]:
    path = f"users/{user}/{edit.document}"
    change = {"replace": edit.new}
    return {"path": path, "sectionAnchor": edit.anchor, "change": change, "rationale": "She said so."}


class FileServer(McpServer):
    """The protocol's own server for plain files, from npm."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._folder = folder
        super().__init__(["node", program, folder])

    def editing(self, edit: Edit) -> tuple[str, dict[str, Any]]:
        edits = [{"oldText": edit.old, "newText": edit.new}]
        return "edit_file", {"path": str(self._folder / edit.document), "edits": edits}

    def reading(self, document: str) -> tuple[str, dict[str, Any]]:
        return "read_text_file", {"path": str(self._folder / document)}


class BasicMemory(McpServer):
    """basic-memory, without embeddings, which it would compute after an edit."""

    def __init__(self, program: Path, folder: Path, state: Path) -> None:
        env = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(state),
            "BASIC_MEMORY_HOME": str(folder),
            "BASIC_MEMORY_CONFIG_DIR": str(state),
            "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
            "BASIC_MEMORY_AUTO_UPDATE": "false",
        }
        super().__init__([program, "mcp"], env)

    def editing(self, edit: Edit) -> tuple[str, dict[str, Any]]:
        # Its section begins below the heading, so the anchor belongs to the words.
        content = f"<!-- @anchor: {edit.anchor} -->\n\n{edit.new}"
        named = {"identifier": edit.document, "section": f"## {edit.heading}", "content": content}
        return "edit_note", {"operation": "replace_section", "project": "main", **named}

    def reading(self, document: str) -> tuple[str, dict[str, Any]]:
        return "read_note", {"identifier": document, "project": "main"}


class GardenHttp(Client):
    """`garden serve`, over one connection that stays open."""

    def __init__(self, home: Path, user: str) -> None:
        self._user = user
        words = ["-m", "garden", "--home", str(home), "serve", "--port", "0", "--user", user]
        self.process = subprocess.Popen(
            [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        self._address = urlsplit(self.process.stdout.readline().split()[-1])
        self._connection = self._connected()

    def edit(self, edit: Edit) -> Took:
        return self._timed("md.patch_section", garden_edit(self._user, edit))[0]

    def read(self, document: str) -> tuple[Took, str]:
        took, answer = self._timed("fs.read", {"path": f"users/{self._user}/{document}"})
        return took, str(answer["result"])

    def together(self, edits: list[Edit]) -> list[bool]:
        def acknowledged(edit: Edit) -> bool:
            args = garden_edit(self._user, edit)
            return bool(self._post(self._connected(), "md.patch_section", args)["ok"])

        with ThreadPoolExecutor(len(edits)) as threads:
            return list(threads.map(acknowledged, edits))

    def _timed(self, tool: str, args: dict[str, Any]) -> tuple[Took, dict[str, Any]]:
        started = time.perf_counter()
        answer = self._post(self._connection, tool, args)
        took = time.perf_counter() - started
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
