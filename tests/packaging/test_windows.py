"""On Windows one line says at once that the garden does not run there, and names WSL."""

import subprocess
import sys

import pytest

# Modules that Windows lacks; asking for one before the line would end in a traceback.
_ON_WINDOWS = """
import sys
for name in ("fcntl", "pwd", "grp", "resource", "termios", "uvloop"):
    sys.modules[name] = None
sys.platform, sys.argv = "win32", {argv!r}
{program}
"""


def on_windows(program: str, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _ON_WINDOWS.format(program=program, argv=list(argv))],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("place", ["garden", r"C:\Users\ada\Scripts\garden.exe", "-m"])
def test_the_command_ends_with_one_line_that_names_wsl(place: str) -> None:
    done = on_windows("from garden.__main__ import main; main()", place, "--help")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("Memory Garden does not run on Windows itself.")
    assert "wsl --install" in done.stderr


def test_an_import_is_refused_in_a_way_that_a_program_can_catch() -> None:
    done = on_windows("import garden", "app.py")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "ImportError: Memory Garden does not run on Windows itself."
    )
    kept = on_windows("try:\n    import garden\nexcept ImportError:\n    print('without it')", "app.py")
    assert (kept.returncode, kept.stdout) == (0, "without it\n")
