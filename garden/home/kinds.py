"""An operator's own kinds of documents."""

from pathlib import Path

from garden.grammar.kinds.declaration import KindError
from garden.home.folder import Home

KINDS_FOLDER = "kinds"


def read_own_kinds(home: Home) -> list[tuple[str, str]]:
    """Read the declarations in a home, each with its file's name."""
    return [(file.name, _text_of(file)) for file in sorted((home.path / KINDS_FOLDER).glob("*.toml"))]


def _text_of(declaration: Path) -> str:
    try:
        return declaration.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise KindError(
            f"{declaration.name} can't be read as text in UTF-8.", hint="Fix or remove the file."
        ) from None
