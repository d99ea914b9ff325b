"""Callers: users, actors and roles. Imports little, since surfaces check a caller before all else."""

import re
from enum import StrEnum
from unicodedata import name, normalize

from garden.events.records import Caller
from garden.files.paths import is_id
from garden.grammar.errors import GardenError

EXTERNAL = "external"
"""The actor of outside edits."""

_ACTOR_CHARACTERS_MAX = 120
# Persons, and the service itself; an agent of such a name would seem to act with their authority.
_NOT_FOR_AGENTS = frozenset(
    {"adopted", "human", "imported", "maintainer", "operator", "owner", "person", "reconciler", "reviewer"}
)


class Role(StrEnum):
    """The roles of callers."""

    AGENT = "agent"
    REVIEWER = "reviewer"
    MAINTAINER = "maintainer"


class InvalidCallerError(GardenError):
    """No caller can have this name or role."""

    code = "invalid_input"


def check_user_id(user_id: str) -> None:
    """Refuse a text that no user can have as an id."""
    if not is_id(user_id):
        raise InvalidCallerError(
            f"{user_id!r} can't be a user's id.",
            hint="An id is 1 to 64 of a-z, 0-9, '-' and '_', and begins with a letter or a digit.",
        )


def check_caller(user_id: str, actor: str, role: str) -> None:
    """Refuse a user id, actor or role that can't be recorded."""
    check_user_id(user_id)
    if actor.strip() != actor or not actor or len(actor) > _ACTOR_CHARACTERS_MAX or not actor.isprintable():
        raise InvalidCallerError(
            "This can't be an actor's name.",
            hint=f"Use 1 to {_ACTOR_CHARACTERS_MAX} printable characters, without a space at either end.",
        )
    plain = normalize("NFKC", actor).strip().casefold()
    if plain == EXTERNAL:
        raise InvalidCallerError(
            f"{EXTERNAL!r} is the actor of edits made outside the tools.", hint="Choose another name."
        )
    if role == Role.AGENT and (plain in _NOT_FOR_AGENTS or _mixes_scripts(actor)):
        raise InvalidCallerError(f"No agent can have the name {actor!r}.", hint="Choose another name.")
    if role not in set(Role):
        raise InvalidCallerError(f"There is no role {role!r}.", hint=f"There are: {', '.join(Role)}.")


def _mixes_scripts(actor: str) -> bool:
    """Whether in a word Greek or Cyrillic letters may pass for the Latin ones beside them."""
    words = [{name(each, "").split(" ")[0] for each in word} for word in re.findall(r"\w+", actor)]
    return any(len(scripts & {"LATIN", "CYRILLIC", "GREEK"}) > 1 for scripts in words)


def make_caller(
    user_id: str,
    actor: str,
    role: str,
    tool_call_id: str | None = None,
    transaction_id: str | None = None,
    agent_action_id: str | None = None,
) -> Caller:
    """Make a caller, or refuse its names."""
    check_caller(user_id, actor, role)
    return Caller(user_id, actor, role, tool_call_id, transaction_id, agent_action_id)
