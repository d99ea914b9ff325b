"""`make docs`: write every page, module and snapshot that is generated from code, and list what changed."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
# The typed methods come first, because other generators import the modules that hold them.
GENERATORS = (
    *("python_api", "tool_schemas", "tool_docs", "cli_docs"),
    *("http_docs", "settings_docs", "event_docs", "lint_docs"),
)
# Every file in these folders is generated, so one that no generator makes is left from before.
OWN_FOLDERS = (REPOSITORY / "docs" / "lint", REPOSITORY / "tests" / "tools" / "schemas")


def changes() -> Iterator[tuple[Path, str | None]]:
    """Each generated file that is out of date, with its new text, or None if it should not exist."""
    made: set[Path] = set()
    for name in GENERATORS:
        for path, text in import_module(f"tools.{name}").files().items():
            made.add(path)
            if not path.exists() or path.read_text("utf-8") != text:
                yield path, text
    for folder in OWN_FOLDERS:
        yield from ((path, None) for path in sorted(folder.iterdir()) if path not in made)


def main() -> None:
    """Write what is out of date."""
    is_anything_new = False
    for path, text in changes():
        is_anything_new = True
        if text is None:
            path.unlink()
        else:
            path.write_text(text, "utf-8")
        print("removed" if text is None else "wrote", path.relative_to(REPOSITORY))
    if not is_anything_new:
        print("nothing changed")


if __name__ == "__main__":
    main()
