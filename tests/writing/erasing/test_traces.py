"""Nothing below a home with its own database keeps erased words, and an older backup is erased again."""

import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from garden.application import Garden, open_garden
from garden.events.vacuum import vacuum
from garden.home.embedded import EmbeddedPostgres
from garden.home.folder import Home, open_home
from tests.support.gardens import CRITIC, NOTES, edit_outside, ok, out_of_step, plant, refused, result
from tests.support.prepared_home import copy_prepared_home

PHRASE = secrets.token_hex(12)


@contextmanager
def opened(home: Home) -> Iterator[Garden]:
    """An open garden whose server stops at the end."""
    try:
        with open_garden(home.path) as garden:
            yield garden
    finally:
        EmbeddedPostgres(home).stop()


@pytest.fixture
def own_home(folder: Path) -> Home:
    return copy_prepared_home(folder / "home")


def write_phrase(garden: Garden) -> None:
    """Leave the phrase wherever a caller or a person can."""
    session = garden.session("ada", "companion")
    ids = {"toolCallId": PHRASE, "transactionId": PHRASE, "evidenceRefs": [PHRASE], "idempotencyKey": PHRASE}
    plant(session, CRITIC, NOTES)
    patch = {"path": CRITIC, "sectionAnchor": "concerns v1"}
    ok(session, "md.patch_section", **patch, change={"replace": f"- {PHRASE}"}, rationale=PHRASE, **ids)
    ok(session, "md.patch_section", **patch, change={"replace": f"- more {PHRASE.upper()}"})
    ok(session, "md.snapshot_history", path=CRITIC)
    # Keys alone hold it, and nothing else of their events does.
    ok(session, "fs.ensure_dir", path="users/ada/parts/new", idempotencyKey=f"folder {PHRASE}")
    ok(
        session,
        "md.patch_section",
        path=CRITIC,
        sectionAnchor="needs v1",
        change={"append": "- Rest"},
        idempotencyKey=f"needs {PHRASE}",
    )
    ok(session, "events.log", type="observation", rationale=PHRASE, details={PHRASE: [PHRASE]})
    ok(session, "fs.append", path=NOTES, text="Slept well.")
    edit_outside(garden, NOTES, "Slept well", f"Slept well ({PHRASE})")
    (garden.home.path / "users/ada/.new-notes.md-0123456789abcdef").write_text(PHRASE)


def refuse_in_the_database(garden: Garden) -> None:
    """Have the server refuse rows and statements with the phrase, which it would log."""
    url = EmbeddedPostgres(garden.home).url()
    assert url is not None
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in (
            "insert into garden.tokens (user_id, actor) values ('ada', %s)",
            "insert into garden.erasures (user_id, reason, passage) values ('ada', 'x', %s)",
        ):
            with suppress(psycopg.Error):
                connection.execute(statement, [PHRASE])
        with suppress(psycopg.Error):
            connection.execute(f"select '{PHRASE}' from nowhere")


def traces(folder: Path) -> list[str]:
    """The files below a folder that hold the phrase."""
    found = subprocess.run(
        ["grep", "-rlaiF", PHRASE, "."], cwd=folder, capture_output=True, text=True, check=False
    )
    return sorted(found.stdout.split())


def test_an_erased_phrase_is_found_nowhere_below_the_home(
    own_home: Home, capfd: pytest.CaptureFixture[str]
) -> None:
    with opened(own_home) as garden:
        operator = garden.session("ada", "operator", role="maintainer")
        write_phrase(garden)
        assert len(traces(own_home.path)) > 3
        done = result(operator, "garden.erase", text=PHRASE, reason="It was a secret.")
        assert done["bytes"] > 0
        refuse_in_the_database(garden)
        url = EmbeddedPostgres(own_home).url()
        assert url is not None
        vacuum(url)
        assert traces(own_home.path) == []
        assert out_of_step(garden) == []
    assert traces(own_home.path) == []
    shown = capfd.readouterr()
    assert PHRASE not in shown.out + shown.err


def test_an_older_backup_is_erased_again_from_the_exported_file(own_home: Home, folder: Path) -> None:
    with opened(own_home) as garden:
        write_phrase(garden)
    backup = folder / "backup"
    subprocess.run(["cp", "-a", own_home.path, backup], check=True)
    with opened(own_home) as garden:
        operator = garden.session("ada", "operator", role="maintainer")
        result(operator, "garden.erase", text=PHRASE, reason="It was a secret.")
        result(operator, "garden.erase", path=NOTES, reason="She asked for it.")
        records = garden.services.eraser.erasures.export("ada")
        assert PHRASE not in str(records).casefold()
        assert {garden.services.eraser.replay(each) for each in records} == {"known already"}
    shutil.rmtree(own_home.path)
    with opened(open_home(backup)) as garden:
        assert traces(backup / "users")
        assert [garden.services.eraser.replay(each) for each in records] == ["erased again"] * 2
        assert traces(backup / "users") + traces(backup / "history") == []
        assert not (backup / NOTES).exists()
        change = {"path": CRITIC, "sectionAnchor": "needs v1", "change": {"append": f"- {PHRASE}"}}
        refused(garden.session("ada", "companion"), "md.patch_section", "erased", **change)
        assert out_of_step(garden) == []
        with pytest.raises(Exception, match="was not written by this garden"):
            garden.services.eraser.replay({**records[0], "path": CRITIC})
