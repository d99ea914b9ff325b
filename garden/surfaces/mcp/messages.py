"""JSON-RPC messages as lines of bytes: splitting, parsing, refusing and encoding them."""

import json
from typing import Any

import mcp_types as types
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json

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
        message = _parse(line)
    except ValueError:
        return None
    # A request with an id of null parses as a notification, and its sender would wait for an answer.
    has_id = isinstance(message, types.JSONRPCNotification) and b'"id"' in line and "id" in _parse_json(line)
    return None if has_id else message


def line_refusal(line: bytes) -> types.JSONRPCError:
    """Return the error that answers a line which is no message."""
    if len(line) >= LINE_BYTES_MAX:
        return _error(None, types.INVALID_REQUEST, f"A message has at most {LINE_BYTES_MAX} bytes.")
    try:
        value = _parse_json(line)
    except ValueError:
        return _error(None, types.PARSE_ERROR, "This line is not valid JSON.")
    request_id = value.get("id") if isinstance(value, dict) else None
    known = request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None
    return _error(known, types.INVALID_REQUEST, "This line is no JSON-RPC 2.0 message.")


def encode_message(message: types.JSONRPCMessage) -> bytes:
    """Encode a message as a line; characters that UTF-8 can't encode are escaped."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except PydanticSerializationError:
        return json.dumps(message.model_dump(by_alias=True, exclude_unset=True)).encode() + b"\n"


def _parse(line: bytes) -> types.JSONRPCMessage:
    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        if not _may_have_surrogates(line):
            raise
    return types.jsonrpc_message_adapter.validate_python(_parse_json(line), by_name=False)


def _parse_json(line: bytes) -> Any:
    """Parse JSON, also with half a surrogate pair in it: the tools refuse that with a better message."""
    try:
        return from_json(line)
    except ValueError:
        if not _may_have_surrogates(line):
            raise
    try:
        return json.loads(line.decode(), parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("this is too deep") from None


def _may_have_surrogates(line: bytes) -> bool:
    # JavaScript writes half a surrogate pair only as an escape.
    return b"\\ud" in line.lower()


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


def _error(request_id: types.RequestId | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message))
