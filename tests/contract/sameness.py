"""Answers without the parts that differ from run to run."""

import json
import re
from typing import Any

_ONCE_ONLY = re.compile(
    r"(?P<hash>sha256:[0-9a-f]{64})"
    r"|(?P<seal>[0-9a-f]{64})"
    r"|(?P<id>[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})"
    r"|(?<=[Ee]vent )(?P<short>[0-9a-f]{8})\b"
    r"|(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00))"
    r"|(?P<stamp>\d{4}-\d\d-\d\dT\d{6}[0-9.]*Z)"
)


class Likeness:
    """Replace hashes and ids by the order of their first use, so that equal ones stay equal."""

    def __init__(self, user_id: str) -> None:
        self._user_id = user_id
        self._names: dict[str, str] = {}

    def of(self, envelope: dict[str, Any]) -> dict[str, Any]:
        """The envelope as any other garden with the same history would return it."""
        meta = dict(envelope.get("meta", {}))
        if envelope["ok"]:
            assert isinstance(meta.pop("tookMs"), float | int)
            envelope = {**envelope, "meta": meta}
            if isinstance(envelope["result"], dict) and "latency" in envelope["result"]:
                # Figures of all calls before, some of which another surface refuses itself.
                envelope = {**envelope, "meta": sorted(meta), "result": sorted(envelope["result"])}
        text = json.dumps(_without_splices(envelope), ensure_ascii=False, sort_keys=True).replace(
            self._user_id, "ADA"
        )
        alike: dict[str, Any] = json.loads(_ONCE_ONLY.sub(self._name, text))
        return alike

    def _name(self, match: re.Match[str]) -> str:
        kind = match.lastgroup
        if kind not in {"hash", "id"}:
            return "(once only)"
        return self._names.setdefault(match.group(), f"({kind} {len(self._names)})")


def _without_splices(value: Any) -> Any:
    """Keep only the number of splices: their offsets depend on the ids in the texts."""
    if isinstance(value, list):
        return [_without_splices(each) for each in value]
    if isinstance(value, dict):
        return {
            name: len(each) if name == "splices" and each else _without_splices(each)
            for name, each in value.items()
        }
    return value


def for_user(value: Any, user_id: str) -> Any:
    """Put the user's id where the steps say ADA."""
    return json.loads(json.dumps(value).replace("ADA", user_id))
