"""`events` and `event`."""

import pytest

from garden.application import Garden
from garden.session import Session
from tests.support.gardens import CRITIC, NOTES, edit_outside, ok, rows
from tests.support.stalled import leave_open
from tests.surfaces.cli.conftest import Command, untouched


def test_events_are_listed_newest_first_in_one_line_each(run: Command, ada: Session) -> None:
    head, *lines = run.well("events").splitlines()
    assert head.split() == ["event", "time", "actor", "op", "document"]
    assert [line.split()[0] for line in lines] == [row["eventId"][-8:] for row in rows(ada)]
    assert "append_file" in lines[0]
    assert lines[1].endswith("parts/critic/profile.md · concerns v1")
    assert all(line == line.rstrip() for line in lines)


def test_the_status_column_is_shown_unless_all_are_committed(
    run: Command, garden: Garden, ada: Session
) -> None:
    leave_open(garden, NOTES, "More.")
    head, first, *_ = run.well("events").splitlines()
    assert head.endswith("  status")
    assert first.endswith("  pending")
    run.well("reconcile")
    shown = run.well("event", rows(ada)[0]["eventId"])
    assert "error           stalled_before_write: The change was begun" in shown


def test_filters_narrow_the_list(run: Command, ada: Session) -> None:
    ok(ada, "events.log", type="observation", op="observe", rationale="The harvest went well,\nin two lines.")
    for words, count in (
        (["notes.md"], 2), (["--section", "concerns v1"], 1), (["--section", "concerns"], 1),
        (["--tool", "md.patch_section"], 1), (["--evidence", "ev:s12-m40"], 1), (["--since", "3w"], 7),
        (["--status", "failed", "--status", "committed"], 7), (["--type", "observation"], 1),
        (["--op", "plant"], 4), (["--status", "failed"], 0), (["--since", "1h"], 7), (["--until", "1h"], 0),
        (["--actor", "companion"], 7), (["--op", "restore"], 0), (["--text", "harvest well"], 1),
        (["--limit", "3"], 3), (["--since", "2001-01-01T00:00", "--until", "2001-01-02T00:00Z"], 0),
    ):  # fmt: skip
        ran = run("events", *words)
        assert ran.code == 0
        assert len(ran.lines[1:]) == count, words
        assert count or ran.err == "No events found.\n"


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    ("option", "name", "near"),
    [
        ("--actor", "compagnon", "Did you mean companion?"), ("--actor", "zzz", "There are: companion."),
        ("--type", "profile_updat", "Did you mean profile_update"),
        ("--op", "restored", "Did you mean restore"),
        ("--tool", "md.patchsection", "Did you mean md.patch_section or "),
    ],
)  # fmt: skip
def test_an_unknown_filter_is_an_error_with_the_nearest_names(
    run: Command, option: str, name: str, near: str
) -> None:
    message = run.fails("events", option, name)
    assert f"No event has the {option[2:]} '{name}'." in message
    assert near in message
    assert run("events", option, name, "--json").json["error"]["code"] == "invalid_input"


def test_a_list_that_is_cut_says_so(run: Command, ada: Session) -> None:
    count = len(rows(ada))
    assert "more than 3 events; --limit N or --all shows more." in run("events", "--limit", "3").err
    assert run("events", "--limit", str(count)).err == run("events", "--all").err == ""


def test_all_pages_are_gathered(run: Command, ada: Session) -> None:
    for number in range(30):
        ok(ada, "events.log", type="observation", rationale=f"number {number}")
    assert len(run("events").lines) == 21
    assert len(run.well("events", "--all").splitlines()) == 37
    envelope = run("events", "--all", "--json").json
    assert envelope["result"]["rows"] == rows(ada, limit=500)
    assert run("events", "--limit", "1", "--json").json["result"]["rows"] == rows(ada, limit=1)


@pytest.mark.usefixtures("ada")
def test_diffs_are_shown_with_the_events(run: Command) -> None:
    shown = run.well("events", "--limit", "2", "--diff")
    assert "\n+Slept well, after the deadline.\n" in shown
    assert "\n+- Says yes before looking\n" in shown
    assert "\n  She named it.\n" in shown


def test_one_event_is_shown_whole_by_its_id_or_the_end_of_it(run: Command, ada: Session) -> None:
    row = rows(ada, path=CRITIC)[0]
    shown = run.well("event", row["eventId"])
    assert run.well("event", row["eventId"][-8:].upper()) == shown
    for words in (
        "document        parts/critic/profile.md",
        "rationale       She named it.",
        "evidence        ev:s12-m40",
        "\n+- Says yes before looking\n",
        "committed",
    ):
        assert words in shown, shown
    assert run("event", row["eventId"], "--json").json["result"] == row


@pytest.mark.usefixtures("ada")
def test_an_annotation_is_shown_with_its_event(run: Command, garden: Garden) -> None:
    session = garden.session("ada", "companion", transaction_id="t1")
    written = ok(session, "fs.append", path=NOTES, text="More.")
    ok(
        session,
        "events.log",
        type="reflection",
        filePath=NOTES,
        rationale="It was worth saying.",
        overrideRationale="So.",
    )
    assert "annotation      reflection by companion: It was worth saying. override: So." in run.well(
        "event", written["meta"]["eventId"]
    )


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize("name", ["ffffffff", "nothing", "0199a7c2-5d1e-7c55-b3aa-0c2d3f9a21c4"])
def test_an_unknown_event_is_refused(run: Command, name: str) -> None:
    assert "There is no such event." in run.fails("event", name)


def test_an_id_too_short_to_find_an_event_is_refused(run: Command, ada: Session) -> None:
    for name in (rows(ada)[0]["eventId"][-5:], "1", ""):
        message = run.fails("event", name)
        assert "too short" in message
        assert "last 6 characters" in message


@pytest.mark.usefixtures("ada")
def test_an_event_of_another_user_is_not_found(run: Command, garden: Garden) -> None:
    written = ok(garden.session("ben"), "md.plant", path="users/ben/notes.md")
    assert "There is no such event." in run.fails("event", written["meta"]["eventId"], "--user", "ada")


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--since", "soon"], 2), (["--status", "lost"], 2), (["--limit", "0"], 2), (["--limit", "x"], 2),
        (["../ben"], 1), (["users/ben/notes.md", "--user", "ada"], 1), (["--actor", "a\nb"], 1),
    ],
)  # fmt: skip
def test_invalid_filters_are_refused(run: Command, garden: Garden, words: list[str], code: int) -> None:
    with untouched(garden):
        run.fails("events", *words, code=code)


@pytest.mark.usefixtures("ada")
def test_a_narrow_terminal_has_events_below_each_other(run: Command) -> None:
    shown = run.well("events", tty=True, columns=40, NO_COLOR="1").splitlines()
    assert all(len(line) <= 40 for line in shown)
    assert "op: append_file" in shown
    wide = run.well("events", tty=True, columns=80, NO_COLOR="1").splitlines()
    assert all(len(line) <= 80 for line in wide)


def test_words_in_an_event_can_not_control_a_terminal(run: Command, garden: Garden, ada: Session) -> None:
    edit_outside(garden, NOTES, "Slept well", "Slept \x1b[2J\x9b31m\x07 well")
    run("reconcile")
    name = rows(ada)[0]["eventId"]
    for words in (["event", name], ["events", "--diff"], ["event", name, "--json"]):
        # A pipe may end at a terminal, too.
        for tty in (True, False):
            shown = run.well(*words, tty=tty, NO_COLOR="1")
            assert not set(shown) & {"\x1b", "\x07", "\x9b"}
            assert "[2J" in shown
