"""The local memory tool of the Anthropic SDK: files in a folder, edited by replacing a string."""

from pathlib import Path

from anthropic.tools.memory import BetaLocalFilesystemMemoryTool


class Contestant:
    """The tool, called as the SDK calls it for a model; no request leaves the machine."""

    def __init__(self, folder: Path, database: str) -> None:  # noqa: ARG002 - files only
        self._tool = BetaLocalFilesystemMemoryTool(str(folder))

    def edit(self, document: str, anchor: str, old: str, new: str) -> None:  # noqa: ARG002 - no sections here
        path = f"/memories/{document}"
        self._tool.call({"command": "str_replace", "path": path, "old_str": old, "new_str": new})

    def read(self, document: str) -> str:
        return str(self._tool.call({"command": "view", "path": f"/memories/{document}"}))
