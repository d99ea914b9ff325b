"""Secret settings in files: GARDEN_DATABASE_URL_FILE names the file that holds GARDEN_DATABASE_URL.

Containers and systemd hand secrets over as files, because other programs can often read a process's
environment.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from garden.grammar.errors import GardenError


class SecretFileError(GardenError):
    """A secret's file can't be read, or the secret is given twice."""

    code = "invalid_input"


def read_secrets(variables: Mapping[str, str]) -> dict[str, str]:
    """Read the secrets whose variables, with `_FILE` added, name a file; returned by the settings' names."""
    given = {name: variable for name, variable in variables.items() if os.environ.get(f"{variable}_FILE")}
    return {name: _read(variable) for name, variable in given.items()}


def _read(variable: str) -> str:
    place = Path(os.environ[f"{variable}_FILE"])
    if os.environ.get(variable):
        raise SecretFileError(
            f"{variable} and {variable}_FILE are both set.", hint="Keep one, and remove the other."
        )
    try:
        secret = place.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise SecretFileError(
            f"{variable}_FILE names {place}, which can't be read: {reason}.",
            hint="Name a file that this account can read.",
        ) from None
    if not secret:
        raise SecretFileError(
            f"{variable}_FILE names {place}, which is empty.", hint="Write the value into the file."
        )
    return secret
