"""Write the files of the MCP bundle, which desktop clients install with a click.

    python -m tools.bundle WHEEL FOLDER

The bundle carries the wheel. The client's uv installs what the wheel needs, and starts the server.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import garden

_PROJECT = """\
[project]
name = "memory-garden-bundle"
version = "{version}"
requires-python = ">=3.11"
dependencies = ["memory-garden"]

[tool.uv]
package = false

[tool.uv.sources]
memory-garden = {{ path = "{wheel}" }}
"""
_SERVER = '''\
"""Start the garden of this bundle."""

from garden.__main__ import main

main()
'''


def manifest() -> dict[str, Any]:
    """What a client shows of the bundle, asks its user, and starts."""
    arguments = [
        "run",
        "--directory",
        "${__dirname}",
        "src/server.py",
        "mcp",
        "--user",
        "${user_config.user}",
    ]
    return {
        "manifest_version": "0.4",
        "name": "memory-garden",
        "display_name": "Memory Garden",
        "version": garden.__version__,
        "description": "Memory in plain Markdown files that you can read and edit, with its history.",
        "author": {"name": "Memory Garden"},
        "homepage": "https://memory-garden.example",
        "license": "MIT",
        "keywords": ["memory", "markdown", "audit"],
        "server": {
            "type": "uv",
            "entry_point": "src/server.py",
            "mcp_config": {
                "command": "uv",
                "args": [*arguments, "--actor", "claude-desktop"],
                "env": {"GARDEN_HOME": "${user_config.home}"},
            },
        },
        "tools_generated": True,
        "prompts_generated": True,
        "user_config": {
            "home": {
                "type": "directory",
                "title": "Garden home",
                "description": "The folder for the gardens and their history; it is made at the first start.",
                "default": "${HOME}/memory-garden",
                "required": True,
            },
            "user": {
                "type": "string",
                "title": "User",
                "description": "Whose garden it is: lower-case letters, digits, - and _.",
                "default": "me",
                "required": True,
            },
        },
        "compatibility": {"platforms": ["darwin", "linux"], "runtimes": {"python": ">=3.11"}},
    }


def write_bundle(wheel: Path, folder: Path) -> None:
    """Write the files of the bundle into a folder, ready for packing."""
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(manifest(), indent=2) + "\n")
    (folder / "pyproject.toml").write_text(_PROJECT.format(version=garden.__version__, wheel=wheel.name))
    (folder / "src" / "server.py").write_text(_SERVER)
    shutil.copy(wheel, folder)


if __name__ == "__main__":
    write_bundle(Path(sys.argv[1]), Path(sys.argv[2]))
