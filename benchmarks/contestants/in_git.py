"""A file and git: write, `git add`, `git commit`, with git's own settings."""

import subprocess
from pathlib import Path


class Contestant:
    """A repository with every document."""

    settings: tuple[str, ...] = ()

    def __init__(self, folder: Path, database: str) -> None:  # noqa: ARG002 - git needs no database
        self._folder = folder
        self._git("init", "-q")
        for setting in ("user.name=sample", "user.email=sample@localhost", "gc.auto=0", *self.settings):
            self._git("config", *setting.split("="))
        self._git("add", ".")
        self._git("commit", "-q", "-m", "begin")

    def edit(self, document: str, anchor: str, old: str, new: str) -> None:  # noqa: ARG002 - no sections here
        file = self._folder / document
        file.write_text(file.read_text().replace(old, new))
        self._git("add", document)
        self._git("commit", "-q", "-m", "edit", "--", document)

    def read(self, document: str) -> str:
        return (self._folder / document).read_text()

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", "-C", self._folder, *arguments], check=True, capture_output=True)


class SafestContestant(Contestant):
    """A repository in which git syncs every object, reference and index."""

    settings = ("core.fsync=all", "core.fsyncMethod=fsync")
