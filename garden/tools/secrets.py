"""Secrets in requests: a private key or a well-known token is refused before anything is stored anywhere."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from pydantic.alias_generators import to_camel

from garden.events.payloads import strings_in
from garden.events.records import Caller
from garden.grammar.errors import GardenError
from garden.lint.secrets import PRIVATE_KEY, Secret, as_seen, may_hold_certain_secret, secrets_in
from garden.tools.request_paths import document_path
from garden.tools.wire import CORRELATION, EditRequest, RecordedRequest, Request
from garden.writing.services import Services

# Words of the caller's own. All other fields of an edit hold the text of the document or name parts of it.
_OWN_WORDS = {*map(to_camel, RecordedRequest.model_fields), "reason"}
_CALLER_FIELDS = {to_camel(name): name for name in ("actor", *CORRELATION)}
# A private key is found by its first line, which all keys share; what follows it tells keys apart.
_KEY_DIGITS = re.compile(r"[A-Za-z0-9+/=\s]{0,80}")


class SecretRefusedError(GardenError):
    """The request holds a secret."""

    code = "invalid_input"


def check_for_secrets(services: Services, caller: Caller, request: Request) -> tuple[str, ...]:
    """Refuse a request that brings a secret; by setting, return warnings instead.

    Text that stands in the document already is not the request's, so it may be written again.
    """
    found = dict.fromkeys(_secrets_brought(services, caller, request))
    if not found:
        return ()
    if services.secrets in ("warn", "ask"):
        return tuple(f"{field} holds {what}." for field, what in found)
    problems = [{"field": field, "problem": f"it holds {what}"} for field, what in found]
    shown = "; ".join(f"{each['field']}: {each['problem']}" for each in problems)
    raise SecretRefusedError(
        f"The request holds a secret, and nothing was stored: {shown}.",
        hint="Leave it out, and write where it is kept instead.",
        details={"problems": problems},
    )


def _secrets_brought(services: Services, caller: Caller, request: Request) -> Iterator[tuple[str, str]]:
    """The fields with a secret, and its form; never the secret itself."""
    values = _values(caller, request)
    if not _may_hold_secret(repr(values)):
        return
    known: str | None = None
    for field, given in _texts(values):
        text = given if given.isascii() else as_seen(given)
        for secret in secrets_in(text):
            if secret.certain and isinstance(request, EditRequest) and field not in _OWN_WORDS:
                known = _text_before(services, caller, request) if known is None else known
                if _without_space(_identity(text, secret)) in known:
                    continue
            if secret.certain:
                yield field, secret.what


def _values(caller: Caller, request: Request) -> dict[str, Any]:
    by_caller = {field: getattr(caller, name) for field, name in _CALLER_FIELDS.items()}
    return {**by_caller, **request.model_dump(by_alias=True, exclude=set(request.words_to_remove))}


def _may_hold_secret(shown: str) -> bool:
    """Whether a value may hold a secret, given its `repr`: one search that rules out nearly all requests.

    An invisible character, which could hide a sign, is escaped there.
    """
    escapes = "\\x" in shown or "\\u" in shown or "\\U" in shown
    return escapes or may_hold_certain_secret(unicodedata.normalize("NFKC", shown))


def _texts(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every text of a request, with the name of its field."""
    for name, value in values.items():
        for text in strings_in(value):
            # A diff also shows lines that stay and lines that go.
            yield name, _added_lines(text) if name == "diffText" else text


def _added_lines(diff: str) -> str:
    return "\n".join(line[1:] for line in diff.splitlines() if line.startswith("+"))


def _text_before(services: Services, caller: Caller, request: EditRequest) -> str:
    with suppress(GardenError):
        return _without_space(services.files.read(document_path(caller, request.path)).text)
    return ""


def _identity(text: str, secret: Secret) -> str:
    digits = _KEY_DIGITS.match(text, secret.end) if secret.what == PRIVATE_KEY else None
    return text[secret.start : digits.end() if digits else secret.end]


def _without_space(text: str) -> str:
    return "".join(text.split())
