"""JSON-RPC messages as lines of bytes: splitting, parsing, refusing and encoding them."""

import json
from typing import Any

import mcp_types as types
from pydantic_core import PydanticSerializationError

from garden.tools.strict_json import parse_json

LINE_BYTES_MAX = 8 * 1024 * 1024


class LineSplitter:
    """Splits chunks of bytes into lines; a line that is too long is cut, so that it is no message."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._begun = bytearray()

    def split(self, chunk: bytes) -> list[bytes]:
        """Return the lines that end in this chunk."""
        *ended, begun = chunk.split(b"\n")
        lines = []
        for part in ended:
            self._keep(part)
            lines.append(bytes(self._begun))
            self._begun.clear()
        self._keep(begun)
        return lines

    def remainder(self) -> list[bytes]:
        """Return the bytes after the last line end as a line, if there are any."""
        return [bytes(self._begun)] if self._begun else []

    def _keep(self, part: bytes) -> None:
        self._begun += part[: self._bytes_max - len(self._begun)]


def parse_message(line: bytes) -> types.JSONRPCMessage | None:
    """Parse a line as a message; None if it is no message."""
    try:
        value = parse_json(line.decode())
        message = types.jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValueError:
        return None
    # A request with an id of null parses as a notification, and its sender would wait for an answer.
    return None if isinstance(message, types.JSONRPCNotification) and "id" in value else message


def line_refusal(line: bytes) -> types.JSONRPCError:
    """Return the error that answers a line which is no message."""
    if len(line) >= LINE_BYTES_MAX:
        return _error(None, types.INVALID_REQUEST, f"A message has at most {LINE_BYTES_MAX} bytes.")
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    problem = find_json_problem(line)
    if problem is not None:
        # The sender may wait for an answer to this id.
        return types.JSONRPCError(jsonrpc="2.0", id=_id_in(value), error=problem)
    return _error(_id_in(value), types.INVALID_REQUEST, "This line is no JSON-RPC 2.0 message.")


def find_json_problem(text: bytes) -> types.ErrorData | None:
    """Return the error that answers a text which is not valid JSON, or None."""
    try:
        parse_json(text.decode())
    except (UnicodeDecodeError, json.JSONDecodeError):
        return types.ErrorData(code=types.PARSE_ERROR, message="This is not valid JSON.")
    except ValueError as error:
        return types.ErrorData(code=types.PARSE_ERROR, message=f"This is not valid JSON: {error}.")
    return None


def _id_in(value: Any) -> types.RequestId | None:
    request_id = value.get("id") if isinstance(value, dict) else None
    return request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None


def encode_message(message: types.JSONRPCMessage) -> bytes:
    """Encode a message as a line; characters that UTF-8 can't encode are escaped."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except PydanticSerializationError:
        return json.dumps(message.model_dump(by_alias=True, exclude_unset=True)).encode() + b"\n"


def _error(request_id: types.RequestId | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message))
