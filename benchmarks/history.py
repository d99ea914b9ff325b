"""Reading the history of a profile with 200 lines, in milliseconds, in a home with other users' events.

`GARDEN_BENCH_VERSIONS` says how many versions the long history has.
"""

import os
import random
from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.ratios import Ratio, median_seconds
from garden.application import Garden, open_garden
from garden.demo.throw_away import throw_away_home
from garden.events.records import Caller, DocumentChange, Statement
from garden.grammar.canonical import canonical, content_hash, raw_hash
from garden.grammar.splice import splices_between
from garden.history.keeping import keep_texts

_VERSIONS = int(os.environ.get("GARDEN_BENCH_VERSIONS", "10000"))
_BLAMED, _LINES, _ROUNDS, _OTHERS = 1000, 200, 40, 20
_PATH = "users/{}/parts/critic/profile.md"


def measure() -> Iterator[Ratio]:
    draw = random.Random(7)  # noqa: S311 - texts of a benchmark
    with throw_away_home() as home, open_garden(home.path) as garden:
        _write_history(garden, "long", _VERSIONS, draw)
        _write_history(garden, "short", _BLAMED, draw)
        for number in range(_OTHERS):
            _write_history(garden, f"other-{number}", 50, draw)
        while list(keep_texts(garden.services)):
            pass

        def version() -> str:
            return str(draw.randint(1, _VERSIONS))

        ask = partial(_median, garden)
        yield ask("log of a document with many versions", "long", 20, "history.log", dict)
        yield ask("show of any version", "long", 20, "history.show", lambda: {"at": version()})
        between = "history.diff", lambda: {"from": version(), "to": version()}
        yield ask("diff of any two versions", "long", 30, *between)
        yield ask(f"blame of a profile with {_BLAMED} versions", "short", 100, "history.blame", dict)


def _median(garden: Garden, title: str, user: str, at_most: int, tool: str, args: Any) -> Ratio:
    """The median time of a call."""
    session = garden.session(user, role="reviewer")

    def call() -> None:
        answer = session.call(tool, {"path": _PATH.format(user), **args()})
        if not answer["ok"]:
            raise LookupError(answer["error"]["message"])

    return Ratio(f"{title}, ms", median_seconds(call, _ROUNDS) * 1000, at_most)


def _write_history(garden: Garden, user: str, versions: int, draw: random.Random) -> None:
    """Change a line of a profile in each version, in turn by replacing, adding and removing one."""
    lines = ["# Part\n", "\n", "## Concerns\n", "<!-- @anchor: concerns v1 -->\n", "\n"]
    lines += [f"- concern {number} that she spoke about for a while\n" for number in range(_LINES)]
    path, before = _PATH.format(user), ""
    for number in range(versions):
        at = draw.randrange(5, len(lines))
        added = [f"- concern {number} of a later day that she spoke about\n"]
        lines[at : at + (number % 3 > 0)] = added if number % 3 < 2 else []
        text = "".join(lines)
        said = Statement(
            type="profile_update", op="patch", tool="fs.patch", path=path, rationale=f"Said in talk {number}."
        )
        change = DocumentChange(
            splices=splices_between(before, text),
            intended_hash=content_hash(text),
            intended_raw_hash=raw_hash(text.encode()),
            sealed_text=canonical(text),
        )
        with garden.services.store.document(Caller(user, "companion"), path) as stream:
            stream.record(said, change)
        before = text
