"""The transparency log: what a checkpoint of many new events costs, and a proof, in a log that has others."""

from collections.abc import Iterator
from functools import partial
from uuid import UUID

from benchmarks.ratios import Ratio, median_seconds, once
from benchmarks.writing import _garden as throw_away_garden
from garden.application import Garden
from garden.history.checkpoints import make_checkpoints
from garden.history.proofs import prove_event
from garden.home.settings import load_settings
from garden.home.setup import prepare_home
from garden.session import Session

_USER = "sample-user"
# Many short documents: a long one would take longer to edit, and not to log.
_NOTES = [f"users/{_USER}/parts/part-{number}/notes.md" for number in range(50)]
_OLD_EVENTS = 100_000
_NEW_EVENTS = 1000
_ROUNDS = 3
_PROOFS = 50


def measure() -> Iterator[Ratio]:
    with throw_away_garden(_OLD_EVENTS) as opened:
        settings = load_settings(opened.home.path).settings
        with Garden(settings, prepare_home(settings)) as garden:
            old = once(partial(_checkpoint, garden))
            session = garden.session(_USER, "companion")
            for path in _NOTES:
                session.call("md.plant", {"path": path})
            took = sorted(_checkpoint_of_new_events(garden, session) for _ in range(_ROUNDS))
            yield Ratio(
                f"checkpoint of {_NEW_EVENTS} new events among {_OLD_EVENTS}, ms",
                took[_ROUNDS // 2] * 1000,
                50,
                detail=f"the first checkpoint took {old:.1f} s",
            )
            answer = session.call("fs.append", {"path": _NOTES[0], "text": "The last line."})
            event = UUID(answer["meta"]["eventId"])
            prove_event(garden.services, _USER, event)
            prove = partial(prove_event, garden.services, _USER, event)
            yield Ratio("proof of an event, ms", median_seconds(prove, _PROOFS) * 1000, 5)


def _checkpoint(garden: Garden) -> None:
    for _ in make_checkpoints(garden.services):
        pass


def _checkpoint_of_new_events(garden: Garden, session: Session) -> float:
    for number in range(_NEW_EVENTS):
        answer = session.call("fs.append", {"path": _NOTES[number % 50], "text": f"Line {number}."})
        assert answer["ok"], answer
    return once(partial(_checkpoint, garden))
