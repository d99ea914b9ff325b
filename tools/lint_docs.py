"""Writes docs/lint from the rules: `make docs`. A test checks that it was done."""

from pathlib import Path

from garden.lint.docs import pages

FOLDER = Path(__file__).parent.parent / "docs" / "lint"


def main() -> None:
    """Write every page, and take away those of rules that are gone."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
