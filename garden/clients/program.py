"""The command with which a client can start this installation, now and after this process has ended."""

import json
import os
import shutil
import sys
from importlib.metadata import Distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

from garden.clients.setup import ClientError

DISTRIBUTION = "memory-garden"


def find_program() -> list[str]:
    """The words that start `garden`, the first with its full path.

    A program in the cache of uvx or of `pipx run` may be gone tomorrow, so these are started themselves.
    """
    parts = Path(sys.prefix).parts
    if any(part.startswith(("archive-v", "environments-v", "builds-v")) for part in parts):
        return [_path_of("uvx", os.environ.get("UV")), *_source("--from"), DISTRIBUTION]
    if "pipx" in parts and "venvs" not in parts:
        return [_path_of("pipx"), "run", *_source("--spec"), DISTRIBUTION]
    script = Path(sys.argv[0]).absolute()
    if script.name in {"garden", DISTRIBUTION} and script.is_file() and os.access(script, os.X_OK):
        return [str(script)]
    return [sys.executable, "-m", "garden"]


def _path_of(name: str, beside: str | None = None) -> str:
    found = (beside and shutil.which(name, path=str(Path(beside).parent))) or shutil.which(name)
    if not found:
        raise ClientError(
            f"This program runs from the cache of {name}, and {name} itself is not found.",
            hint="Install it for good, from a clone: 'uv tool install .' or 'pipx install .'.",
        )
    return str(Path(found).absolute())


def _source(option: str) -> list[str]:
    """The option that names the file or folder that this was installed from, else exactly this version."""
    installed = Distribution.from_name(DISTRIBUTION)
    record = installed.read_text("direct_url.json")
    url = urlsplit(json.loads(record)["url"] if record else "")
    # An index may hold a newer program of this name by others.
    return [option, unquote(url.path) if url.scheme == "file" else f"{DISTRIBUTION}=={installed.version}"]
