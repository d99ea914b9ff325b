"""A session: one actor at work in one user's garden."""

from collections.abc import Mapping
from typing import Any

from events.records import Caller
from garden.drift import EXTERNAL
from garden.paths import is_id
from garden.tools.answers import Answer
from garden.tools.declaration import Role
from garden.tools.dispatching import Dispatcher, Envelope
from garden.tools.pace import Pace
from garden.tools.toolbelt import Toolbelt
from grammar.errors import GardenError

_ACTOR_CHARACTERS_MAX = 120


class InvalidCallerError(GardenError):
    """Nobody can act by this name or in this role."""

    code = "invalid_input"


class Session(Toolbelt):
    """The tools, as one actor may use them in one garden.

    The methods answer with a result and what else there is to tell, or raise a `GardenError`. `call` takes a
    tool's name and its arguments as they travel, and answers with the envelope; a refusal is one as well.
    """

    def __init__(self, dispatcher: Dispatcher, caller: Caller) -> None:
        super().__init__(dispatcher, caller)
        self.caller = caller
        self._dispatcher = dispatcher

    def call(self, tool: str, args: Mapping[str, Any] | None = None, pace: Pace | None = None) -> Envelope:
        """Call a tool by its name; the pace says how far it is, and lets it be given up."""
        return self._dispatcher.call(self.caller, tool, {} if args is None else args, pace)

    def ask(self, tool: str, fields: Mapping[str, Any]) -> Answer[Any]:
        """Call a tool by its name, and have what its typed method gives."""
        return self._run(tool, fields)


def checked_caller(
    user_id: str,
    actor: str,
    role: str,
    tool_call_id: str | None = None,
    transaction_id: str | None = None,
    agent_action_id: str | None = None,
) -> Caller:
    """Make a caller of names that can be recorded."""
    if not is_id(user_id):
        raise InvalidCallerError(
            f"{user_id!r} can't be a user's id.",
            hint="An id is 1 to 64 of a-z, 0-9, '-' and '_', and begins with a letter or a digit.",
        )
    if not actor.strip() or len(actor) > _ACTOR_CHARACTERS_MAX or not actor.isprintable():
        raise InvalidCallerError(
            "This can't be an actor's name.", hint=f"Use 1 to {_ACTOR_CHARACTERS_MAX} printable characters."
        )
    if actor == EXTERNAL:
        raise InvalidCallerError(
            f"{EXTERNAL!r} is who edits files outside the tools.", hint="Choose another name."
        )
    if role not in set(Role):
        raise InvalidCallerError(f"There is no role {role!r}.", hint=f"There are: {', '.join(Role)}.")
    return Caller(user_id, actor, role, tool_call_id, transaction_id, agent_action_id)
