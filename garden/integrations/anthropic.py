"""Anthropic's memory tool on a garden: `/memories` is the user's documents and free files beside them.

    from anthropic import Anthropic
    from garden.integrations.anthropic import GardenMemoryTool

    runner = Anthropic().beta.messages.tool_runner(tools=[GardenMemoryTool("ada")], ...)

`/memories/overview.md`, `notes.md`, `parts/...` and `relationships/...` are the garden's own documents; every
other path is a free-form document. A call that the garden refuses gets an answer that says what to do.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from garden.grammar.errors import GardenError
from garden.integrations.documents import change_text, text_or_nothing, unless_missing, write_text
from garden.integrations.opening import NO_DOCUMENT, Adapter, UserGarden, missing_extra

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from anthropic.types.beta import (
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )
except ModuleNotFoundError as missing:
    raise missing_extra("anthropic", missing) from None

if TYPE_CHECKING:
    from garden.application import Garden

_COMMANDS: dict[str, Any] = {
    "view": BetaMemoryTool20250818ViewCommand,
    "create": BetaMemoryTool20250818CreateCommand,
    "str_replace": BetaMemoryTool20250818StrReplaceCommand,
    "insert": BetaMemoryTool20250818InsertCommand,
    "delete": BetaMemoryTool20250818DeleteCommand,
    "rename": BetaMemoryTool20250818RenameCommand,
}
ROOT = "/memories"
_OWN = ("overview.md", "notes.md", "parts", "relationships")
_NAMES = (
    f"Write paths like {ROOT}/topic.md or {ROOT}/folder/topic.md, up to two folders: names have a-z, 0-9, "
    "'-' and '_', and a file ends in .md."
)
_LEVELS_SHOWN, _LEVELS_MAX = 2, 10
# Beyond the model's reach.
_FAILURES = ("internal", "unavailable")


class MemoryFolder:
    """The commands of the memory tool, on the files of one user."""

    def __init__(self, opening: UserGarden) -> None:
        self._opening = opening
        self._user = f"users/{opening.user}"

    def run(self, command: Any) -> str:
        """Carry out a command; a refusal is a `ToolError` in words for the model."""
        is_rename = isinstance(command, BetaMemoryTool20250818RenameCommand)
        paths = (command.old_path, command.new_path) if is_rename else (command.path,)
        with self._refusals_for_model(paths):
            answer: str = getattr(self, command.command)(command)
            return answer

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file with line numbers, or the files of a folder."""
        if not command.path.endswith(".md"):
            return self._listing(command.path)
        lines = self._text(command.path).split("\n")
        first, last = [*(command.view_range or (1, -1)), -1][:2]
        last = len(lines) if last == -1 else last
        if not 1 <= first <= last or first > len(lines):
            raise ToolError(
                f"Invalid `view_range` parameter: {command.view_range}. The file has lines 1 to {len(lines)}."
            )
        shown = _numbered(lines, first, last)
        return f"Here's the content of {command.path} with line numbers:\n{shown}"

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file where there is none."""
        place = self._place(command.path)
        if not self._is_free(place):
            raise ToolError(
                f"{command.path} is kept for the garden's own documents. Where it exists, change it with "
                f"str_replace or insert, or write to another path. {_NAMES}"
            )
        # An empty free-form document is an archived one.
        if self._begin(place, command.file_text or "\n"):
            return f"File created successfully at: {command.path}"
        raise ToolError(f"File {command.path} already exists")

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that is in the file exactly once."""
        path, old = command.path, command.old_str
        before = self._text(path)
        if not old:
            raise ToolError("No replacement was performed, old_str is empty. Use insert to add text.")
        new = {"find": old, "replace": command.new_str}
        try:
            self._opening.ask("fs.edit", {"path": self._place(path), **new, "rationale": _why("str_replace")})
        except GardenError as refused:
            if "matchCount" not in refused.details:
                raise
            places = ", ".join(map(str, refused.details.get("lines", ())))
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {places}. "
                "Please ensure it is unique"
                if places
                else f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            ) from None
        line = before[: max(before.find(old), 0)].count("\n") + 1
        lines = text_or_nothing(self._opening, self._place(path)).split("\n")
        snippet = _numbered(lines, max(line - 2, 1), line + 2)
        head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return f"{head}\n{snippet}"

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert a text below a line; 0 is the top."""

        def with_insertion(text: str) -> str:
            if not text:
                raise ToolError(_missing(command.path))
            lines = text.removesuffix("\n").split("\n")
            if not 0 <= command.insert_line <= len(lines):
                raise ToolError(
                    f"Invalid `insert_line` parameter: {command.insert_line}. "
                    f"It should be within the range [0, {len(lines)}]."
                )
            lines.insert(command.insert_line, command.insert_text.removesuffix("\n"))
            return "\n".join(lines) + "\n"

        change_text(self._opening, self._file(command.path), with_insertion, _why("insert"))
        return f"The file {command.path} has been edited."

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Archive a free-form document, or those in a folder."""
        for path in self._documents(command.path):
            self._opening.ask("fs.archive", {"path": path, "rationale": _why("delete")})
        return f"Successfully deleted {command.path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Rename a free-form document or a folder of them; nothing may be at the new path."""
        old, new = self._place(command.old_path), self._place(command.new_path)
        if old.endswith(".md") != new.endswith(".md"):
            raise ToolError(f"Can't rename {command.old_path} to {command.new_path}. {_NAMES}")
        moves = [(path, new + path.removeprefix(old)) for path in self._documents(command.old_path)]
        if any(text_or_nothing(self._opening, target) for _, target in moves):
            raise ToolError(f"The destination {command.new_path} already exists")
        for path, target in moves:
            self._move(path, target)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear(self) -> str:
        """Archive every free-form document; the garden's own documents stay."""
        for path in self._listed(f"{self._user}/memories"):
            self._opening.ask("fs.archive", {"path": path, "rationale": _why("clear_all_memory")})
        return "All free memory files cleared"

    def _place(self, path: str) -> str:
        """The path in the garden."""
        if path.rstrip("/") != ROOT and not path.startswith(f"{ROOT}/"):
            raise ToolError(f"Path must start with {ROOT}, got: {path}")
        names = path.removeprefix(ROOT).removeprefix("/").removesuffix("/")
        is_own = not names or names.split("/")[0] in _OWN
        return f"{self._user}/{names}".rstrip("/") if is_own else f"{self._user}/memories/{names}"

    def _is_free(self, place: str) -> bool:
        return place.startswith(f"{self._user}/memories/")

    def _shown(self, place: str) -> str | None:
        """The path that a model sees, if there is one."""
        names = place.removeprefix(f"{self._user}/").removeprefix("memories/")
        path = f"{ROOT}/{names}"
        return path if self._place(path) == place else None

    def _file(self, path: str) -> str:
        place = self._place(path)
        if not place.endswith(".md"):
            raise ToolError(f"The path {path} is not a file. {_NAMES}")
        return place

    def _text(self, path: str) -> str:
        text = text_or_nothing(self._opening, self._file(path))
        if not text:
            raise ToolError(_missing(path))
        return text

    def _begin(self, place: str, content: str) -> bool:
        return write_text(self._opening, place, content, NO_DOCUMENT, _why("create"))

    def _move(self, path: str, target: str) -> None:
        try:
            self._opening.move(path, target, _why("rename"))
        except GardenError as refused:
            if refused.code != "already_exists":
                raise
            # An archived document is there, which begins anew.
            text, current = self._opening.text_of(path)
            if not self._begin(target, text):
                raise
            fields = {"path": path, "ifMatch": current, "rationale": _why("rename")}
            self._opening.ask("fs.archive", fields)

    def _documents(self, path: str) -> list[str]:
        """The free-form documents at a path; the garden's own may not go."""
        place = self._place(path)
        if not self._is_free(place):
            raise ToolError(
                f"{path} can't be deleted or renamed: it is part of {ROOT} for good. "
                "Take out text that no longer holds with str_replace."
            )
        if place.endswith(".md"):
            self._text(path)
            return [place]
        found = self._listed(place)
        if not found:
            raise ToolError(_missing(path))
        return found

    def _listed(self, place: str) -> list[str]:
        entries, not_listed = unless_missing(partial(self._entries, place)) or ([], "")
        if not_listed:
            raise ToolError(f"There are too many files for one command. {not_listed}")
        return [each["path"] for each in entries if each["kind"] != "folder"]

    def _entries(self, place: str) -> tuple[list[dict[str, Any]], str]:
        """What is in a folder and below; and how much of it is not listed, in words."""
        fields = {"path": place, "depth": _LEVELS_MAX, "details": True}
        meta = self._opening.session.ask("fs.list", fields).meta
        cut = meta.get("truncated")
        note = f"Only {cut['shown']} of {cut['total']} are listed; name a folder below it." if cut else ""
        return meta.get("entries", []), note

    def _listing(self, path: str) -> str:
        top, place = path.rstrip("/"), self._place(path)
        entries, not_listed = self._entries(place)
        sizes = dict[str, int]()
        for each in entries:
            name, size = self._shown(each["path"]), each["sizeBytes"]
            while name is not None and size is not None and len(name.rstrip("/")) > len(top):
                sizes[name] = sizes.get(name, 0) + size
                name = name.rstrip("/").rpartition("/")[0] + "/"
        if not sizes and place != self._user:
            raise ToolError(_missing(path))
        total = sum(size for name, size in sizes.items() if not name.endswith("/"))
        near = [name for name in sorted(sizes) if name[len(top) :].rstrip("/").count("/") <= _LEVELS_SHOWN]
        head = f"Here're the files and directories up to 2 levels deep in {top}, excluding hidden items:"
        rows = [f"{_size(total)}\t{top}", *(f"{_size(sizes[name])}\t{name}" for name in near)]
        return "\n".join([head, *rows, *filter(None, [not_listed])])

    @contextmanager
    def _refusals_for_model(self, paths: tuple[str, ...]) -> Iterator[None]:
        try:
            yield
        except GardenError as refused:
            if refused.code in _FAILURES:
                raise
            if refused.code == "not_found":
                raise ToolError(_missing(paths[0])) from None
            if refused.code == "path_not_allowed":
                raise ToolError(f"{' or '.join(paths)} is not allowed. {_NAMES}") from None
            words = f"{refused.message} {refused.hint}".replace(f"{self._user}/memories", ROOT)
            raise ToolError(words.replace(self._user, ROOT)) from None


def _why(command: str) -> str:
    return f"The memory tool's {command}."


def _missing(path: str) -> str:
    return f"The path {path} does not exist. Please provide a valid path."


def _numbered(lines: list[str], first: int, last: int) -> str:
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines[first - 1 : last], first))


def _size(size_bytes: int) -> str:
    power = min(max(size_bytes.bit_length() - 1, 0) // 10, 2)
    return f"{size_bytes / 1024**power:.1f}".removesuffix(".0") + "BKM"[power]


def _parsed(asked: Any) -> Any:
    """The command in a model's input."""
    model = _COMMANDS.get(str(asked.get("command"))) if isinstance(asked, dict) else None
    if model is None:
        raise ToolError(f"The command must be one of: {', '.join(_COMMANDS)}.")
    try:
        return model.model_validate(asked)
    except ValidationError as wrong:
        faults = "; ".join(f"{each['loc'][0]}: {each['msg']}" for each in wrong.errors())
        raise ToolError(f"The command {asked['command']} can't be read. {faults}.") from None


class _InGarden(Adapter):
    def __init__(
        self,
        user: str = "me",
        *,
        home: str | Path | None = None,
        actor: str = "memory-tool",
        garden: "Garden | None" = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.opening = UserGarden(user, actor=actor, home=home, garden=garden)
        self._folder = MemoryFolder(self.opening)


class GardenMemoryTool(_InGarden, BetaAbstractMemoryTool):
    """The memory tool for synchronous clients; `options` are the SDK's, such as `cache_control`."""

    def call(self, input: object) -> str:  # noqa: A002 - the SDK's name
        """Carry out what a model sent."""
        return self.execute(_parsed(input))

    def execute(self, command: Any) -> str:
        """Carry out a command."""
        return self._folder.run(command)

    def clear_all_memory(self) -> str:
        """Archive every free-form document."""
        return self._folder.clear()

    view = create = str_replace = insert = delete = rename = execute


class AsyncGardenMemoryTool(_InGarden, BetaAsyncAbstractMemoryTool):
    """The memory tool for asynchronous clients; `options` are the SDK's, such as `cache_control`."""

    async def call(self, input: object) -> str:  # noqa: A002 - the SDK's name
        """Carry out what a model sent."""
        return await self.execute(_parsed(input))

    async def execute(self, command: Any) -> str:
        """Carry out a command in a worker thread."""
        return await self.opening.run(partial(self._folder.run, command))

    async def clear_all_memory(self) -> str:
        """Archive every free-form document."""
        return await self.opening.run(self._folder.clear)

    view = create = str_replace = insert = delete = rename = execute
