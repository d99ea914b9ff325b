"""Random sequences of calls from four processes: every `ok` was true when it was given."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from garden.application import Garden
from garden.home.folder import ensure_home
from tests.support.databases import TestServer
from tests.support.folders import fresh_folder, run_folder
from tests.support.gardens import ok
from tests.support.planted import opened, put_database
from tests.writing.sequences.calls import Call
from tests.writing.sequences.drawing import Drawing
from tests.writing.sequences.model import Answer, Judge, Seen
from tests.writing.sequences.pages import Page, page_of
from tests.writing.sequences.players import Player, players_in

SEQUENCES, BATCHES = int(os.environ.get("GARDEN_TEST_SEQUENCES", "12")), 12
ROUNDS, PLAYERS, ERASURES = 14, 4, 0.05


@pytest.fixture(scope="module")
def played(server: TestServer) -> Iterator[tuple[Garden, list[Player]]]:
    """An open garden, and processes that make calls in it."""
    with fresh_folder(run_folder()) as folder, server.database(server.template()) as url:
        home = ensure_home(folder / "home")
        put_database(home, url)
        with opened(home) as garden, players_in(home.path, PLAYERS) as players:
            yield garden, players


@pytest.mark.parametrize("batch", range(BATCHES))
def test_every_ok_was_true_when_it_was_given(played: tuple[Garden, list[Player]], batch: int) -> None:
    garden, players = played
    templates = planted_templates(garden, f"template{batch}")
    for seed in range(batch, SEQUENCES, BATCHES):
        Sequence(garden, players, seed, templates).play()


def planted_templates(garden: Garden, user_id: str) -> Mapping[str, Page]:
    """The pages that `md.plant` makes, by the path below the user's folder."""
    session, pages = garden.session(user_id), {}
    for path in Drawing(0, garden.home.path, user_id).paths:
        ok(session, "md.plant", path=path)
        pages[path.removeprefix(f"users/{user_id}/")] = page_of((garden.home.path / path).read_text())
    return pages


class Sequence:
    """One sequence of rounds; in each, some processes make one call each, and then a person edits."""

    def __init__(
        self, garden: Garden, players: list[Player], seed: int, templates: Mapping[str, Page]
    ) -> None:
        self._garden, self._players = garden, players
        self._user_id = f"user{seed}"
        self._home = garden.home.path
        self._drawing = Drawing(seed, self._home, self._user_id)
        named = {f"users/{self._user_id}/{path}": page for path, page in templates.items()}
        self._judge = Judge(self._drawing.paths, named)
        self._unsettled: set[str] = set()
        self._acknowledged: set[str] = set()
        self._story: list[object] = [f"No order of the last calls makes their answers true. Seed {seed}:"]

    def play(self) -> None:
        """Play all rounds; an answer that was not true fails with the story up to it."""
        for number in range(ROUNDS):
            count = self._drawing.random.randint(1, PLAYERS)
            calls = [self._drawing.call() for _ in range(count)] if number else self._drawing.first_calls()
            answers = self._make(calls)
            seen = self._look()
            self._story += [*zip(calls, answers, strict=True), seen.pages]
            assert self._judge.is_true(calls, answers, seen), "\n".join(map(str, self._story))
            self._note(calls, answers, seen)
            if self._drawing.random.random() < ERASURES:
                self._erase()
            if self._drawing.random.random() < 0.5:
                self._drawing.edit_by_hand(sorted(self._unsettled))
                self._judge.see(self._look())
        self._check_events()

    def _erase(self) -> None:
        """Erase the words wherever they are."""
        [answer], seen = self._make([self._drawing.erasure()]), self._look()
        self._story += [answer, seen.pages]
        assert answer is not None
        assert self._judge.is_erased(answer, seen), "\n".join(map(str, self._story))

    def _make(self, calls: list[Call]) -> list[Answer]:
        """Make calls at once, each from a process of its own."""
        players = self._drawing.random.sample(self._players, len(calls))
        for player, call in zip(players, calls, strict=True):
            player.send(self._user_id, call)
        return [player.answer() for player in players]

    def _look(self) -> Seen:
        """Read the files as a person would."""
        files = {path: self._home / path for path in self._drawing.paths}
        copies = (self._home / "history" / self._user_id).rglob("*.md")
        folder = self._drawing.folder
        return Seen(
            {path: _page_in(file) for path, file in files.items()},
            {path: file.read_bytes() if file.exists() else None for path, file in files.items()},
            frozenset([folder] if (self._home / folder).exists() else []),
            {str(copy.relative_to(self._home)): page_of(copy.read_text()) for copy in copies},
        )

    def _note(self, calls: list[Call], answers: list[Answer], seen: Seen) -> None:
        for call, answer in zip(calls, answers, strict=True):
            if answer is None:
                self._unsettled |= set(call.paths)
            elif answer["ok"] and "eventId" in answer["meta"] and not call.dry_run:
                self._acknowledged.add(answer["meta"]["eventId"])
            if answer is not None and len(calls) == 1 and answer["ok"] and not call.dry_run:
                self._unsettled -= set(call.paths)
                self._remember_version(call, answer, seen)

    def _remember_version(self, call: Call, answer: Mapping[str, object], seen: Seen) -> None:
        meta = answer["meta"]
        assert isinstance(meta, dict)
        page = seen.pages.get(call.path)
        if (
            page is not None
            and "eventId" in meta
            and not meta.get("replayed")
            and call.tool != "md.snapshot_history"
        ):
            self._drawing.versions.append((call.path, meta["eventId"], page))

    def _check_events(self) -> None:
        """No acknowledged change has failed since, and none is unknown to the event log."""
        session, cursor = self._garden.session(self._user_id, role="reviewer"), None
        states: dict[str, str] = {}
        while True:
            page = ok(session, "events.query", limit=500, **({"cursor": cursor} if cursor else {}))
            states |= {row["eventId"]: row["status"] for row in page["result"]["rows"]}
            cursor = page["meta"].get("cursor")
            if cursor is None:
                break
        assert {states.get(event) for event in self._acknowledged} <= {"committed"}, self._story


def _page_in(file: Path) -> Page | None:
    return page_of(file.read_text()) if file.exists() else None
