"""Switches off what other systems than Linux lack, in a process that has not yet loaded the files."""

import sys

from garden.home import platform_features

OFF = {
    "HAS_OPENAT2": False, "HAS_RENAME_FLAGS": False, "HAS_LEASES": False, "O_PATH": None, "HAS_ACLS": False,
}  # fmt: skip


def switch_off() -> None:
    """Take the portable way from here on; some modules look once, when they are loaded."""
    assert "garden.files" not in sys.modules
    for name, value in OFF.items():
        setattr(platform_features, name, value)
