"""Writes tests/tools/schemas/ from the registry: what each tool takes and gives. A test compares."""

import json
from pathlib import Path
from typing import Any

from garden.tools.declaration import Tool
from garden.tools.registry import REGISTRY

TARGET = Path(__file__).parents[1] / "tests" / "tools" / "schemas"


def snapshots() -> dict[str, str]:
    """Write each tool's snapshot, by the name of its file."""
    return {
        f"{tool.name}.json": json.dumps(_snapshot(tool), indent=2, ensure_ascii=False) + "\n"
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
        "result": tool.result_schema,
    }


def main() -> None:
    """Write the files, and remove those of tools that are no more."""
    TARGET.mkdir(exist_ok=True)
    wanted = snapshots()
    for file in TARGET.glob("*.json"):
        if file.name not in wanted:
            file.unlink()
    for name, text in wanted.items():
        (TARGET / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
