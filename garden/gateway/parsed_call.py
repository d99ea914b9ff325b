"""A call on its way through the chain, once its tool is known and its request is valid."""

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from garden.gateway.access import Access
from garden.gateway.policies import Rules
from garden.tools.declaration import Call, Reply, Tool


class ParsedCall(NamedTuple):
    """A call whose tool is known and whose request is valid."""

    access: Access
    rules: Rules
    tool: Tool[Any]
    call: Call
    request: Any
    warnings: tuple[str, ...]

    def meta_of(self, reply: Reply, shaped: Mapping[str, Any], started: float) -> dict[str, Any]:
        """The `meta` of its answer."""
        warnings = [*reply.warnings, *self.warnings]
        return {**reply.meta, "warnings": warnings, **shaped, "tookMs": milliseconds_since(started)}


def milliseconds_since(started: float) -> float:
    """Milliseconds since a reading of the performance counter."""
    return round((time.perf_counter() - started) * 1000, 3)
