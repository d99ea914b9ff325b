"""A model that follows a script: a real HTTP service for a real SDK client, without a model behind it."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class ScriptedModel:
    """Answers each request with the next reply of the script, and keeps the requests."""

    replies: list[dict[str, Any]]
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        self.requests.append(request)
        return self.replies[len(self.requests) - 1]


def settings_for(url: str) -> dict[str, str]:
    """Environment variables that lead the clients of model services here."""
    return {
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": url,
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": url,
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
    }


@contextmanager
def scripted(replies: Sequence[dict[str, Any]]) -> Iterator[ScriptedModel]:
    """Serve a script on the loopback address; every reply must have been asked for."""
    model = ScriptedModel(list(replies))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            body = json.dumps(model.answer(json.loads(self.rfile.read(size)))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        model.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield model
        finally:
            server.shutdown()
    assert len(model.requests) == len(model.replies)


def claude_says(*content: dict[str, Any]) -> dict[str, Any]:
    """A reply of Anthropic's Messages API."""
    is_call = any(each["type"] == "tool_use" for each in content)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": list(content),
        "stop_reason": "tool_use" if is_call else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def memory_call(command: str, **fields: Any) -> dict[str, Any]:
    """A call of the memory tool in such a reply."""
    asked = {"command": command, **fields}
    return claude_says({"type": "tool_use", "id": f"toolu_{command}", "name": "memory", "input": asked})


def text_reply(text: str) -> dict[str, Any]:
    """A reply without a call."""
    return claude_says({"type": "text", "text": text})


def gpt_says(*output: dict[str, Any]) -> dict[str, Any]:
    """A reply of OpenAI's Responses API."""
    fixed = {"object": "response", "created_at": 0, "model": "scripted", "parallel_tool_calls": True}
    return {"id": "resp_1", "output": [*output], "tool_choice": "auto", "tools": [], **fixed}


def gpt_text(text: str) -> dict[str, Any]:
    """Such a reply without a call."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return gpt_says(
        {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    )


def gpt_call(tool: str, **fields: Any) -> dict[str, Any]:
    """A call of a tool in such a reply."""
    asked = json.dumps(fields)
    return gpt_says({"type": "function_call", "call_id": f"call_{tool}", "name": tool, "arguments": asked})
