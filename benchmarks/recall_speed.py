"""Recall among many passages of one user, in process and over HTTP, and its share of a write.

`GARDEN_BENCH_PASSAGES` says how many passages there are.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import partial
from http.client import HTTPConnection
from unittest import mock
from uuid import UUID

import numpy as np

from benchmarks.http import serving
from benchmarks.ratios import Ratio, Stopwatch, once, quantile
from benchmarks.work import notes
from garden.application import Garden, open_garden
from garden.demo.throw_away import throw_away_home
from garden.events.passages import PassageRow, PassageStore, StandingPassage
from garden.events.recall_reader import RecallReader
from garden.passages.words import word_hashes
from garden.recall.live import LiveIndex
from garden.recall.query import RecallQuery
from garden.recall.recall import recall_of
from garden.session import Session
from garden.writing.indexing import Indexing

_PASSAGES = int(os.environ.get("GARDEN_BENCH_PASSAGES", "100000"))
_OF_A_DOCUMENT, _WORDS, _VOCABULARY, _QUESTIONS = 1000, 22, 20_000, 300
_FACTS, _SECTIONS, _ROUNDS, _WARM_UP_ROUNDS = 40, 20, 150, 20
_USER, _EMBEDDER, _DIMENSIONS = "sample-user", "wordllama-l2-256/1", 256
_FIRST = """
import sys, time
from garden.application import open_garden
from garden.recall.live import LiveIndex
from garden.recall.query import RecallQuery
from garden.recall.recall import recall_of
with open_garden(sys.argv[1]) as garden:
    started = time.perf_counter()
    recall_of(garden.services).search(sys.argv[2], RecallQuery(query=sys.argv[3]))
    print(time.perf_counter() - started)
"""


def measure() -> Iterator[Ratio]:
    draw = random.Random(7)  # noqa: S311 - texts of a benchmark
    with throw_away_home() as home, open_garden(home.path) as garden:
        _fill(garden, draw)
        recall = recall_of(garden.services)

        def ask(words: str) -> float:
            return once(lambda: recall.search(_USER, RecallQuery(query=words)))

        ask(_text(draw, 4))
        taken = [ask(_text(draw, draw.randint(2, 8))) for _ in range(_QUESTIONS)]
        half = f"half of them in {quantile(taken, 0.5) * 1000:.1f} ms"
        title = f"a question among {_PASSAGES} passages: slow ones (p95), in ms"
        yield Ratio(title, quantile(taken, 0.95) * 1000, 8, detail=half)
        session = garden.session(_USER, role="maintainer")
        session.call("md.plant", {"path": f"users/{_USER}/overview.md"})
        for _ in range(_FACTS):
            session.call("memory.store", {"category": "fact", "content": _text(draw, 12)})
        taken = [
            once(lambda: session.call("memory.context", {"query": _text(draw, 6), "tokens": 2000}))
            for _ in range(_QUESTIONS)
        ]
        half = f"half of them in {quantile(taken, 0.5) * 1000:.1f} ms"
        yield Ratio(
            "a context of 2000 tokens: slow ones, in ms", quantile(taken, 0.95) * 1000, 25, detail=half
        )
        command = [sys.executable, "-c", _FIRST, str(home.path), _USER, _text(draw, 4)]
        firsts = [float(subprocess.check_output(command)) for _ in range(5)]
        yield Ratio("the first question of a process, in seconds", min(firsts), 0.5)
        yield _over_http(garden, draw)
        index = LiveIndex(RecallReader(garden.pools["readers"]), _USER, _EMBEDDER, _DIMENSIONS).refresh()
        yield Ratio("bytes a passage", index.size / _PASSAGES, 1200)
        yield _share_of_a_write(garden)


def _over_http(garden: Garden, draw: random.Random) -> Ratio:
    token = garden.tokens.create(_USER, role="agent", actor="companion", expires_at=None).secret
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with serving(garden.home) as (host, port, _):
        client = HTTPConnection(host, port)

        def ask() -> None:
            body = json.dumps({"query": _text(draw, draw.randint(2, 8))})
            client.request("POST", "/v1/tools/memory.recall", body, headers)
            if not json.loads(client.getresponse().read())["ok"]:
                raise RuntimeError("A question was refused.")

        ask()
        taken = [once(ask) for _ in range(_QUESTIONS)]
    half = f"half of them in {quantile(taken, 0.5) * 1000:.1f} ms"
    return Ratio("the same over HTTP: slow ones, in ms", quantile(taken, 0.95) * 1000, 15, detail=half)


def _share_of_a_write(garden: Garden) -> Ratio:
    """An edit and one without its passages in turns, each in a document of its own."""
    watch, session = Stopwatch(), garden.session(_USER)
    for part in ("with", "without"):
        session.fs.write(f"users/{_USER}/parts/{part}/notes.md", notes(part, _USER, _SECTIONS))
    for number in range(_ROUNDS + _WARM_UP_ROUNDS):
        if number == _WARM_UP_ROUNDS:
            watch.warmed_up()
        watch.take("with", partial(_edit, session, "with", number))
        with mock.patch.object(Indexing, "encoded_changes", return_value=None):
            watch.take("without", partial(_edit, session, "without", number))
    return watch.ratio("an edit with its passages / without", "with", "without", at_most=1.1)


def _edit(session: Session, part: str, number: int) -> None:
    path = f"users/{_USER}/parts/{part}/notes.md"
    change = {"replace": f"- Can't sleep then, {number}\n"}
    session.md.patch_section(path, "theme_7 v1", change)


def _text(draw: random.Random, words: int) -> str:
    # Few words are in most texts, and most words in few.
    ranks = (int(_VOCABULARY ** draw.random()) for _ in range(words))
    return " ".join(f"w{chr(97 + rank % 26)}{rank}" for rank in ranks)


def _fill(garden: Garden, draw: random.Random) -> None:
    store, reader = PassageStore(garden.pools["writers"]), RecallReader(garden.pools["readers"])
    at, vectors = datetime(2026, 1, 1, tzinfo=UTC), np.random.default_rng(7)
    for number in range(_PASSAGES // _OF_A_DOCUMENT):
        path = f"users/{_USER}/parts/part-{number}/notes.md"
        rows = [_row(draw, path, number * _OF_A_DOCUMENT + each + 1) for each in range(_OF_A_DOCUMENT)]
        store.replace_document(_USER, path, [StandingPassage(row, UUID(int=1), at) for row in rows], 1, 1)
        made = [vector.tobytes() for vector in vectors.integers(-127, 127, (len(rows), _DIMENSIONS), np.int8)]
        reader.put_vectors(_USER, rows, made, _EMBEDDER)


def _row(draw: random.Random, path: str, number: int) -> PassageRow:
    text, above = _text(draw, _WORDS), number - 1 if number % _OF_A_DOCUMENT != 1 else None
    day = date(2020, 1, 1) + timedelta(days=number // 40)
    words = word_hashes(text, "en")
    place = (number, path, "inbox v1", f"{number:010}", "Inbox", "en", above, day)
    return PassageRow(*place, (), None, None, None, text, words)
