"""`garden stats`."""

import time

import pytest

from garden.application import Garden
from tests.surfaces.cli.conftest import Command


@pytest.mark.usefixtures("ada")
def test_stats_show_the_use_of_recall_by_user_and_day(run: Command, garden: Garden) -> None:
    assert run.well("stats") == "Recall has not been used yet.\n"
    usage = garden.services.usage
    usage.count("ada", "memory.context", time.perf_counter(), is_empty=True)
    usage.note_given("ada", "companion", ["users/ada/notes.md#inbox v1/k3j2h4g5f6"])
    usage.flush()
    headings, row = (line.split() for line in run.well("stats", "--user", "ada").splitlines())
    assert headings == ["user", "day", "tool", "calls", "empty", "mean", "ms", "given"]
    assert (row[0], row[2:5], row[6]) == ("ada", ["memory.context", "1", "1"], "1")
    [told] = run("stats", "--json").json
    assert (told["user_id"], told["calls"], told["empty"], told["given"]) == ("ada", 1, 1, 1)
    assert run("stats", "--user", "ben").code == 1
