"""The demonstration: a whole garden from nothing, on a throw-away home."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from garden.doctor import Finding, examine
from garden.embedded import EmbeddedPostgres
from garden.ground import prepare
from garden.home import Home, ensure_home
from garden.settings import Loaded, load_settings

Say = Callable[[str], None]


@contextmanager
def throw_away_home() -> Iterator[Home]:
    """Give a fresh home; on leaving, its server is stopped and the folder removed."""
    with tempfile.TemporaryDirectory(prefix="garden-demo-") as folder:
        home = ensure_home(Path(folder) / "home")
        try:
            yield home
        finally:
            EmbeddedPostgres(home).stop()


def run(say: Say, show: Callable[[Finding], None]) -> bool:
    """Live through the demonstration; False if anything was not as it should be."""
    with throw_away_home() as home:
        loaded = _settings_for(home)
        say("A garden home, its own Postgres and its schema, from nothing:")
        _timed("prepared", loaded, say)
        say("The same again, finding everything in place:")
        _timed("found ready", loaded, say)
        say("The doctor's findings:")
        findings = list(examine(loaded))
        for finding in findings:
            show(finding)
    say("The throw-away home and its server are gone again.")
    return not any(finding.status in ("failed", "skipped") for finding in findings)


def _settings_for(home: Home) -> Loaded:
    loaded = load_settings(home.path)
    return replace(loaded, settings=loaded.settings.model_copy(update={"database_url": None}))


def _timed(done: str, loaded: Loaded, say: Say) -> None:
    started = time.perf_counter()
    prepare(loaded.settings, lambda step: say(f"  {step}"))
    say(f"  {done} in {time.perf_counter() - started:.2f} s")
