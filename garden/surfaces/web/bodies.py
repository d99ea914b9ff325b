"""The body of a call: exactly one JSON object, parsed strictly."""

from typing import Any

from garden.surfaces.web.problems import MediaTypeError, NotAcceptedError
from garden.tools.strict_json import parse_json

DEPTH_MAX = 64
_HINT = 'Send one JSON object in UTF-8, such as {"path": "users/ada/notes.md"}.'


def check_media_type(header: str | None) -> None:
    """Refuse a body not declared as JSON; a web page can't send that declaration without a preflight."""
    name, *parameters = (part.strip().lower() for part in (header or "").split(";"))
    if name != "application/json" and not (name.startswith("application/") and name.endswith("+json")):
        raise MediaTypeError(
            "The body must be JSON.", hint="Send it with the header Content-Type: application/json."
        )
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "charset" and value.strip(' "') not in {"utf-8", "utf8"}:
            raise MediaTypeError("The body must be in UTF-8.", hint="Leave the charset out.")


def parse_arguments(body: bytes) -> dict[str, Any]:
    """Parse the arguments of a call; without a body there are none."""
    if not body.strip():
        return {}
    try:
        value = parse_json(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise NotAcceptedError("The body is not UTF-8.", hint=_HINT) from None
    except ValueError as error:
        raise NotAcceptedError(f"The body is not valid JSON: {error}.", hint=_HINT) from None
    if not isinstance(value, dict):
        raise NotAcceptedError("The body must be a JSON object.", hint=_HINT)
    _check_depth(value)
    return value


def _check_depth(value: dict[str, Any]) -> None:
    level: list[Any] = [value]
    for _ in range(DEPTH_MAX):
        level = [inner for outer in level for inner in _children(outer) if isinstance(inner, dict | list)]
        if not level:
            return
    raise _too_deep()


def _children(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value


def _too_deep() -> NotAcceptedError:
    return NotAcceptedError(f"The body is nested more than {DEPTH_MAX} deep.", hint=_HINT)
