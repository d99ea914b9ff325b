"""A minimal MCP client over stdio: one JSON message per line, without validation."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "line client", "version": "1"},
}


class Lines:
    """A server process and the connection to it."""

    def __init__(
        self,
        command: Sequence[str | Path],
        env: Mapping[str, str] | None = None,
        stderr: int | IO[bytes] | None = None,
    ) -> None:
        self.process = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
        )
        self._id = 0
        self.others: list[dict[str, Any]] = []

    def greet(self) -> dict[str, Any]:
        """Shake hands."""
        answer = self.ask("initialize", INITIALIZE)
        self.tell("notifications/initialized")
        return answer

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and wait for its answer; other messages go to `others`."""
        return self.answer_to(self.send(method, params))

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its result."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        result: dict[str, Any] = answer["result"]
        return result

    def send(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request; return its id."""
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method}
        self.put(json.dumps(message if params is None else {**message, "params": params}).encode())
        return self._id

    def tell(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification."""
        message = {"jsonrpc": "2.0", "method": method}
        self.put(json.dumps(message if params is None else {**message, "params": params}).encode())

    def put(self, line: bytes) -> None:
        """Write any line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def answer_to(self, request_id: int) -> dict[str, Any]:
        """Return the answer to a request, which may have arrived earlier."""
        for early in self.others:
            if early.get("id") == request_id:
                self.others.remove(early)
                return early
        while True:
            message = self.next()
            if message.get("id") == request_id and "method" not in message:
                return message
            self._meet(message)

    def next(self) -> dict[str, Any]:
        """Read the next message of any kind."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise EOFError("the server said nothing more")
        message: dict[str, Any] = json.loads(line)
        return message

    def end_input(self) -> None:
        """Close the input."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def close(self) -> int:
        """Close the connection; return the exit code."""
        self.end_input()
        assert self.process.stdout is not None
        if not self.process.stdout.closed:
            self.process.stdout.read()
            self.process.stdout.close()
        if self.process.stderr is not None:
            self.process.stderr.close()
        return self.process.wait(timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.process.kill()
        self.close()

    def _meet(self, message: dict[str, Any]) -> None:
        if "method" in message and "id" in message:
            # Servers may send requests too; this client has no roots.
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"roots": []}}
            self.put(json.dumps(answer).encode())
        else:
            self.others.append(message)
