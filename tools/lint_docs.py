"""docs/lint, generated from the rules."""

from pathlib import Path

from garden.lint.docs import pages

FOLDER = Path(__file__).parents[1] / "docs" / "lint"


def files() -> dict[Path, str]:
    """Text of each page."""
    return {FOLDER / name: text for name, text in pages().items()}
