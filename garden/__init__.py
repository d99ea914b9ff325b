"""Memory Garden: a file-first memory service for companion agents.

with garden.open(home="my-garden") as opened:
    session = opened.session("ada", "companion")
    session.md.plant("users/ada/notes.md", title="Notes")
    session.fs.append("users/ada/notes.md", "Laughed about the deadline today.")
"""

import sys
from typing import TYPE_CHECKING

if sys.platform == "win32":
    _ANSWER = (
        "Memory Garden does not run on Windows itself. Run it in WSL, the Windows Subsystem for Linux: "
        "'wsl --install', then install and start it in there."
    )
    # The command ends with this line alone; a program that imports the package may go on without it.
    _IS_COMMAND = sys.argv[0].replace("\\", "/").rpartition("/")[2].partition(".")[0] in {"garden", "-m"}
    raise SystemExit(_ANSWER) if _IS_COMMAND else ImportError(_ANSWER)

if TYPE_CHECKING:
    from pathlib import Path

    from garden.application import Garden

__version__ = "0.1.0"


def open(home: "str | Path | None" = None, *, create: bool = True) -> "Garden":  # noqa: A001 - read as garden.open
    """Open the garden in this folder or in the settings' folder.

    A missing home is made, and the log names it; without `create` it is refused.
    """
    from garden.application import open_garden

    return open_garden(home, create=create)
