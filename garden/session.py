"""A session: one actor at work in one user's garden."""

from collections.abc import Mapping
from typing import Any

from garden.access.dispatcher import Dispatcher, Envelope
from garden.events.records import Caller
from garden.surfaces.python.answers import Answer
from garden.surfaces.python.toolbelt import Toolbelt
from garden.tools.pace import Pace


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
