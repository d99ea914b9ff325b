"""The folders that the server's account may pass, where root starts the server for another account.

To pass through the folders above the database and the server programs, that account gets an access control
entry of its own, so that no folder opens up to other accounts. An entry outside the home is reported, and
can be taken back.
"""

import errno
import os
import struct
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from garden.home import platform_features
from garden.home.embedded.account import Account, EmbeddedPostgresError

_ACL_ATTRIBUTE = "system.posix_acl_access"
_ACL_VERSION = 2
_USER_OBJ, _USER, _GROUP_OBJ, _GROUP, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_NO_ID = 0xFFFFFFFF
_ENTER = 1

_Entries = dict[tuple[int, int], int]


def let_pass(account: Account, target: Path, own: Path, notice: Callable[[str], None]) -> None:
    """Let the account pass through each folder above the target; the folders below `own` may be opened."""
    for folder in reversed(target.resolve().parents):
        if not account.may("-x", folder):
            is_ours = folder.is_relative_to(own)
            _let_enter(account, folder, ours=is_ours)
            if not is_ours:
                notice(
                    f"Let the account {account.name}, which runs Postgres for root, pass through {folder}; "
                    "it can't list or read it. 'garden database stop --take-back' takes that back."
                )


def open_programs(account: Account, installation: Path, notice: Callable[[str], None]) -> None:
    """Let the account run the server programs, which are public software."""
    let_pass(account, installation, installation, notice)
    if account.may("-x", installation / "bin" / "postgres") and account.may("-r", installation / "share"):
        return
    libraries = installation.parent.with_name(f"{installation.parent.name}.libs")
    for root in (installation, libraries):
        for path in (root, *root.rglob("*")):
            if not path.is_symlink():
                mode = path.stat().st_mode & 0o777
                path.chmod(mode | 0o444 | (0o111 if mode & 0o100 else 0))
    notice(f"Let every account of this machine read the programs of Postgres in {installation}.")


def granted_folders(account: Account, targets: Iterable[Path]) -> list[Path]:
    """The folders above the targets that have an entry for the account."""
    above = dict.fromkeys(folder for target in targets for folder in target.resolve().parents)
    return sorted(folder for folder in above if (_USER, account.uid) in _entries(folder))


def take_back(account: Account, folder: Path) -> None:
    """Remove the account's entry; the last entry of its kind leaves the folder's mode as it was."""
    entries = _entries(folder)
    del entries[_USER, account.uid]
    if not any(tag in {_USER, _GROUP} for tag, _ in entries):
        entries.pop((_MASK, _NO_ID), None)
    _write(folder, entries)


def _let_enter(account: Account, folder: Path, *, ours: bool) -> None:
    try:
        entries = _entries(folder)
        entries[_USER, account.uid] = _ENTER
        group = entries[_GROUP_OBJ, _NO_ID]
        entries[_MASK, _NO_ID] = entries.get((_MASK, _NO_ID), group) | _ENTER
        _write(folder, entries)
    except OSError:
        if not ours:
            raise EmbeddedPostgresError(
                f"Postgres does not run as root, and its account {account.name} can't pass {folder}.",
                hint=f"Run as an ordinary user, or allow it with: chmod o+x '{folder}'.",
            ) from None
        folder.chmod(folder.stat().st_mode & 0o777 | 0o001)


def _write(folder: Path, entries: _Entries) -> None:
    packed = b"".join(struct.pack("<HHI", tag, mode, who) for (tag, who), mode in sorted(entries.items()))
    if sys.platform == "linux" and platform_features.HAS_ACLS:
        os.setxattr(folder, _ACL_ATTRIBUTE, struct.pack("<I", _ACL_VERSION) + packed)
    else:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))


def _entries(folder: Path) -> _Entries:
    """The folder's access control list; without one, what its mode says."""
    if sys.platform == "linux" and platform_features.HAS_ACLS:
        try:
            raw = os.getxattr(folder, _ACL_ATTRIBUTE)
            return {(tag, who): mode for tag, mode, who in struct.iter_unpack("<HHI", raw[4:])}
        except OSError:
            pass
    mode = folder.stat().st_mode
    return {
        (_USER_OBJ, _NO_ID): mode >> 6 & 7,
        (_GROUP_OBJ, _NO_ID): mode >> 3 & 7,
        (_OTHER, _NO_ID): mode & 7,
    }
