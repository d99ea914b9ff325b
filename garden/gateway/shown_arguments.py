"""Arguments as the account of calls shows them: shortened, without secrets and idempotency keys."""

from collections.abc import Callable, Collection, Mapping
from itertools import islice
from typing import Any

_TEXT_CHARACTERS_MAX = 80
_ITEMS_MAX = 30
_DEPTH_MAX = 5
_LEFT_OUT = {"idempotencyKey", "idempotency_key"}
_NUMBER_MAX = 1e300


def show_arguments(args: object, sent: str | None, hidden: Collection[str] = ()) -> Any:
    """What is shown of arguments that are this JSON; `hidden` fields hold words that the tool takes away."""
    # Loaded with the first call, not with the program.
    from garden.lint.secrets import may_hold_secret

    # One search rules out a secret in nearly all calls, and characters that could hide one.
    is_plain = sent is not None and sent.isascii() and not may_hold_secret(sent)

    def show(text: str, name: str) -> str:
        if name in hidden:
            return f"[{len(text)} characters]"
        return _shortened(text) if is_plain else show_text(text, name)

    return _shown(args, show)


def show_text(text: str, name: str = "") -> str:
    """A text shortened, on one line, or what kind of secret is in it."""
    from garden.lint.secrets import as_seen, secrets_in

    named = f"{name}: {text}"
    secret = next(secrets_in(named if named.isascii() else as_seen(named)), None)
    return _shortened(text) if secret is None else f"[{secret.what}, {len(text)} characters]"


def _shown(value: object, show: Callable[[str, str], str], name: str = "", depth: int = 0) -> Any:
    match value:
        case str():
            return show(value, name)
        case None | bool():
            return value
        case int() | float() if -_NUMBER_MAX < value < _NUMBER_MAX:
            return value
        case Mapping() if depth < _DEPTH_MAX:
            return {
                show(str(key), ""): _shown(each, show, str(key), depth + 1)
                for key, each in islice(value.items(), _ITEMS_MAX)
                if key not in _LEFT_OUT
            }
        case list() | tuple() if depth < _DEPTH_MAX:
            return [_shown(each, show, name, depth + 1) for each in value[:_ITEMS_MAX]]
    return f"[{type(value).__name__}]"


def _shortened(text: str) -> str:
    short = text[:_TEXT_CHARACTERS_MAX]
    shown = short if short.isprintable() else repr(short)[1:-1]
    return shown if short == text else f"{shown}… ({len(text)} characters)"
