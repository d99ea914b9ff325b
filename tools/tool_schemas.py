"""Snapshots of each tool's traits and wire schemas, in tests/tools/schemas."""

import json
from pathlib import Path
from typing import Any

from garden.tools.declaration import Tool
from garden.tools.registry import REGISTRY
from garden.tools.slim_schemas import slim_schema

SCHEMAS = Path(__file__).parents[1] / "tests" / "tools" / "schemas"


def files() -> dict[Path, str]:
    """Text of each tool's snapshot."""
    return {
        SCHEMAS / f"{tool.name}.json": json.dumps(_snapshot(tool), indent=2, ensure_ascii=False) + "\n"
        for tool in REGISTRY.values()
    }


def _snapshot(tool: Tool[Any]) -> dict[str, Any]:
    traits = tool.traits
    return {
        "name": tool.name,
        "traits": {
            "writes": traits.writes,
            "replaces": traits.replaces,
            "roles": sorted(traits.roles),
            "idempotent": traits.idempotent,
            "cost": traits.cost,
        },
        "request": tool.request_schema,
        "slimRequest": slim_schema(tool.request),
        "result": tool.result_schema,
    }
