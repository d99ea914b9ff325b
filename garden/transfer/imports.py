"""Imports a tree of gardens, laid out like `users/`; each file takes the write path.

A file that already exists with the same content is skipped, so starting an interrupted import again continues
it. A file that exists with other content is never overwritten.
"""

import os
from pathlib import Path
from typing import ClassVar

from garden.events.records import Caller
from garden.files.errors import (
    FileExistsAlreadyError,
    FileMissingError,
)
from garden.files.paths import GardenPath, parse_path
from garden.files.plain_files import SIZE_MAX_BYTES, check_content
from garden.grammar.canonical import raw_hash
from garden.grammar.edits import WriteFile
from garden.grammar.errors import GardenError
from garden.lint.secrets import secrets_in
from garden.transfer.files import TransferOutcome, TransferredFile, refused_file
from garden.transfer.formats.source import files_below, read_plain
from garden.writing.planner import Intent
from garden.writing.services import Services

_OP = "import"


class SecretInFileError(GardenError):
    """A file to import holds a secret."""

    code: ClassVar[str] = "invalid_input"


class SourceError(GardenError):
    """The source is not a folder."""

    code: ClassVar[str] = "not_found"


def files_in(source: Path) -> list[Path]:
    """Every file in the users' folders, sorted; hidden files and files beside those folders are skipped."""
    if not source.is_dir():
        raise SourceError(
            "The source is not a folder.",
            hint="Name a folder with one folder for each user, like users/. An export of another program "
            "needs --from with its name.",
        )
    with os.scandir(source) as entries:
        users = [entry for entry in entries if entry.is_dir() and not entry.name.startswith(".")]
    return sorted(file for user in users for file in files_below(user))


def import_file(services: Services, source: Path, file: Path, actor: str) -> TransferredFile:
    """Import one file; an error becomes a refusal."""
    # A name that is not UTF-8 becomes printable text, which is no document's path either.
    name = os.fsencode(file.relative_to(source)).decode(errors="backslashreplace")
    try:
        path = parse_path(f"users/{name}", owner=None)
        services.files.declared.check(path)
        text = check_content(read_plain(file, SIZE_MAX_BYTES + 1))
        return TransferredFile(name, _import_document(services, path, text, actor))
    except GardenError as error:
        return refused_file(name, error)


def refuse_secret(text: str) -> None:
    """Refuse a text that holds a secret."""
    secret = next((each for each in secrets_in(text) if each.certain), None)
    if secret is not None:
        line = text.count("\n", 0, secret.start) + 1
        raise SecretInFileError(
            f"Line {line} holds {secret.what}.",
            hint="Take it out of the file, or import with the setting GARDEN_SECRETS=warn.",
        )


def _import_document(services: Services, path: GardenPath, text: str, actor: str) -> TransferOutcome:
    caller = Caller(path.user_id, actor, "maintainer")
    try:
        if services.files.read(path).hash == raw_hash(text.encode()):
            # A killed import may have left the file with its change unfinished.
            known = services.write_path.settle_and_adopt(caller, path)
            if known.error is not None:
                raise known.error
            return "unchanged"
    except FileMissingError:
        pass
    else:
        raise FileExistsAlreadyError
    if services.secrets == "refuse":
        refuse_secret(text)
    intent = Intent(
        path=path,
        edit=WriteFile(text),
        tool="garden.import",
        op=_OP,
        rationale="The document was imported.",
        override_rationale="It was imported as it was.",
        only_new=True,
        foreign_log=True,
    )
    services.write_path.write(caller, intent, None, lambda plan: {"newHash": plan.after.document.hash})
    return "imported"
