"""A session: one actor working in one user's garden."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from garden.access.dispatcher import Dispatcher, Envelope
from garden.events.records import Caller
from garden.surfaces.python.answers import Answer
from garden.surfaces.python.toolbelt import Toolbelt
from garden.tools.progress import CallProgress


class Session(Toolbelt):
    """The tools for one actor in one garden.

    The typed methods return an `Answer` with result and meta, or raise a `GardenError`. `call` takes a tool's
    name and its JSON arguments and returns the envelope, for a refusal as well.
    """

    def __init__(self, dispatcher: Dispatcher, caller: Caller) -> None:
        super().__init__(partial(_ask, dispatcher, caller))
        self.caller = caller
        self._dispatcher = dispatcher

    def call(
        self, tool: str, args: Mapping[str, Any] | None = None, progress: CallProgress | None = None
    ) -> Envelope:
        """Call a tool by name; `progress` reports its steps and can cancel it."""
        return self._dispatcher.call(self.caller, tool, {} if args is None else args, progress)

    def ask(self, tool: str, fields: Mapping[str, Any]) -> Answer[Any]:
        """Call a tool by name and return what its typed method returns."""
        answer: Answer[Any] = self._ask(tool, fields)
        return answer


def _ask(dispatcher: Dispatcher, caller: Caller, tool: str, fields: Mapping[str, Any]) -> Answer[Any]:
    given = {name: value for name, value in fields.items() if value is not None}
    result, meta = dispatcher.run(caller, tool, given)
    return Answer(result, meta)
