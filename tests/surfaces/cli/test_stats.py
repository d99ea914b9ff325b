"""`garden stats`."""

import time

import pytest

from garden.application import Garden
from tests.surfaces.cli.conftest import Command


@pytest.mark.usefixtures("ada")
def test_stats_show_the_use_of_recall_by_user_and_day(run: Command, garden: Garden) -> None:
    assert run.well("stats", "--actor", "nobody") == (
        "No tool was called in this period.\nRecall has not been used yet.\n"
    )
    usage = garden.services.usage
    usage.count("ada", "memory.context", time.perf_counter(), is_empty=True)
    usage.note_given("ada", "companion", ["users/ada/notes.md#inbox v1/k3j2h4g5f6"])
    usage.flush()
    headings, row = (line.split() for line in run.well("stats", "--user", "ada").splitlines()[-2:])
    assert headings == ["user", "day", "tool", "calls", "empty", "mean", "ms", "given"]
    assert (row[0], row[2:5], row[6]) == ("ada", ["memory.context", "1", "1"], "1")
    [told] = run("stats", "--json").json["recall"]
    assert (told["user_id"], told["calls"], told["empty"], told["given"]) == ("ada", 1, 1, 1)
    assert run("stats", "--user", "ben").code == 1


@pytest.mark.usefixtures("ada")
def test_stats_show_how_the_calls_of_each_actor_went(run: Command, garden: Garden) -> None:
    for actor, path in (
        ("critic", "notes.md"),
        ("companion", "notes.md"),
        ("companion", "parts/nobody/notes.md"),
    ):
        garden.session("ada", actor).call("fs.read", {"path": f"users/ada/{path}"})
    garden.services.calls.flush()
    headings, companion, critic = (
        line.split() for line in run.well("stats", "--period", "1h", "--tool", "fs.read").splitlines()[:3]
    )
    assert headings[:4] == ["user", "actor", "calls", "success"]
    assert (companion[:4], companion[-2:]) == (["ada", "companion", "2", "50.0"], ["not_found:", "1"])
    assert critic[:4] == ["ada", "critic", "1", "100.0"]
    [told] = run("stats", "--actor", "companion", "--tool", "fs.read", "--json").json["calls"]
    assert (told["user"], told["calls"], told["refusals"]) == ("ada", 2, {"not_found": 1})
    assert told["topTools"] == [{"tool": "fs.read", "calls": 2}]
    assert run("stats", "--tool", "fs.write", "--json").json["calls"] == []
    garden.session("ada", "guest").call("fs.read", {"path": "users/ada/parts/nobody/notes.md"})
    garden.services.calls.flush()
    assert run.well("stats", "--actor", "guest").splitlines()[1].split()[:4] == ["ada", "guest", "1", "0.0"]
    refused = run("stats", "--period", "2d")
    assert refused.code == 2
    assert "1h, 1d, 1w" in refused.err
