"""Each adapter imports its own framework and no other."""

import ast
import sys
from pathlib import Path

import pytest

ADAPTERS = Path(__file__).parents[2] / "garden/integrations"
# What an adapter may import beside the standard library, this project and pydantic.
FRAMEWORKS = {
    "anthropic": {"anthropic"},
    "google_adk": {"google"},
    "langgraph": {"langgraph"},
    "llama_index": {"llama_index"},
    "openai_agents": {"agents", "openai"},
    "pydantic_ai": {"pydantic_ai", "pydantic_core"},
}
OURS = {"garden", "pydantic", *sys.stdlib_module_names}


def packages_imported(module: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None
            found.add(node.module.split(".")[0])
    return found - OURS


@pytest.mark.parametrize("module", sorted(ADAPTERS.glob("*.py")), ids=lambda path: path.stem)
def test_an_adapter_imports_only_its_framework(module: Path) -> None:
    assert packages_imported(module) <= FRAMEWORKS.get(module.stem, set())
