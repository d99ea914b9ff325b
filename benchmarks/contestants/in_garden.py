"""The garden, in the process of its caller."""

from collections.abc import Mapping
from pathlib import Path

from garden.application import open_garden


class Contestant:
    """A session in the home; the folder's name is the user's."""

    def __init__(self, folder: Path, database: str) -> None:  # noqa: ARG002 - the home knows its database
        self._user = folder.name
        self._session = open_garden(folder.parents[1]).session(self._user, "companion")

    def edit(self, document: str, anchor: str, old: str, new: str) -> None:  # noqa: ARG002 - it reads the file
        args = {
            "path": f"users/{self._user}/{document}", "sectionAnchor": anchor, "change": {"replace": new},
            "rationale": "She said so.",
        }  # fmt: skip
        self._ask("md.patch_section", args)

    def read(self, document: str) -> str:
        return str(self._ask("fs.read", {"path": f"users/{self._user}/{document}"}))

    def _ask(self, tool: str, args: Mapping[str, object]) -> object:
        answer = self._session.call(tool, args)
        if not answer["ok"]:
            raise RuntimeError(answer["error"]["message"])
        result: object = answer["result"]
        return result
