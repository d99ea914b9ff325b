"""The chain around a call: what it adds to a read, and what the account of calls adds to a write."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.ratios import Ratio, Stopwatch, micro
from benchmarks.writing import _document as document
from benchmarks.writing import _garden as throw_away_garden
from benchmarks.writing import _patch as patch
from garden.application import Garden
from garden.gateway.access import Access
from garden.gateway.account import CallRecord
from garden.gateway.dispatcher import Gates
from garden.home.settings import Gateway, load_settings
from garden.home.setup import PreparedHome
from garden.session import Session
from garden.tools.declaration import Call
from garden.tools.progress import CallProgress
from garden.tools.registry import REGISTRY

_ROUNDS = 600
# As many limits as the preset `default` has, with room for all the calls.
_LIMITS = dict.fromkeys(("all_minute", "all_hour", "actor_minute", "actor_hour", "fs.read"), 1_000_000)


class _NoRecord(CallRecord):
    """A call of which nothing is recorded."""

    def __init__(self, access: Access, name: str, args: object) -> None:
        self.access, self.name, self.args, self.caller = access, name, args, access.caller
        self.tool, self.reply, self.shaped = None, None, {}

    def __exit__(self, *_error: object) -> None:
        pass


def measure() -> Iterator[Ratio]:
    with throw_away_garden() as opened:
        settings = load_settings(opened.home.path).settings
        limited = settings.model_copy(update={"gateway": Gateway(limits=_LIMITS)})
        with Garden(limited, PreparedHome(opened.home, opened.url, ())) as garden:
            session = garden.session(opened.session.caller.user_id, "companion")
            gates = garden.gates
            without = replace(gates, record=_NoRecord)
            path = document(session, 0)
            yield from _reads(garden, session, path, {"with": gates, "without": without})
            watch = _turns(session, {"with": gates, "without": without}, partial(patch, session, path))
            yield watch.ratio("a write with the account of calls / without", "with", "without", at_most=1.03)


def _reads(garden: Garden, session: Session, path: str, gates: Mapping[str, Gates]) -> Iterator[Ratio]:
    tool = REGISTRY["fs.read"]
    request = tool.request.model_validate({"path": path})
    call = Call(garden.services, session.caller, REGISTRY, CallProgress())
    read = partial(session.call, "fs.read", {"path": path})
    watch = _turns(session, gates, read, handler=partial(tool.handler, call, request))
    added = watch.median("with") - watch.median("handler")
    detail = f"{micro(watch.median('with'))} / {micro(watch.median('handler'))} µs"
    yield Ratio("what the chain adds to a read, in ms", added * 1000, 0.1, detail=detail)
    added = watch.median("with") - watch.median("without")
    yield Ratio("of which the account of calls, in ms", added * 1000, 0.05, detail=f"{micro(added)} µs")


def _turns(session: Session, gates: Mapping[str, Gates], work: Any, **others: Any) -> Stopwatch:
    """Times of the same work through each of the gates, in turns, and of other work."""
    watch = Stopwatch()
    for number in range(_ROUNDS):
        if number == _ROUNDS // 10:
            watch.warmed_up()
        for name, each in gates.items():
            session._dispatcher.gates = each
            watch.take(name, work)
        for name, other in others.items():
            watch.take(name, other)
    return watch
