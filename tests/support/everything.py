"""Imports what calls need in a process that forks others; each of them would import it for itself."""

import pkgutil
from importlib import import_module

import garden

_NOT_FOR_CALLS = (
    "garden.__main__", "garden.demo", "garden.integrations", "garden.serving", "garden.surfaces",
)  # fmt: skip


def import_all_for_calls() -> None:
    for module in pkgutil.walk_packages(garden.__path__, "garden."):
        if not module.name.startswith(_NOT_FOR_CALLS):
            import_module(module.name)
    # Loaded by a keyring at its first use.
    import_module("cryptography.hazmat.primitives.kdf.hkdf")
