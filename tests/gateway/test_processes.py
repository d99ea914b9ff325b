"""The counts that the processes of one service share."""

import pytest

from garden.gateway import processes
from garden.gateway.processes import SharedCounts


def test_names_of_two_kinds_never_share_a_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_SLOTS", 1)
    counts = SharedCounts()
    counts.add(("bodies", "ada"), 1000)
    assert [counts.total((kind, "ada")) for kind in processes._KINDS] == [1000, 0, 0, 0, 0]
