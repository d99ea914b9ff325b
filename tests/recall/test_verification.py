"""Rows that are not what the documents say are found, and the first one is named."""

import pytest

from garden.application import Garden
from garden.files.paths import GardenPath
from garden.recall.verification import verify
from tests.recall.rows import change_rows
from tests.recall.test_rebuilding import faults, rebuild_all, write
from tests.support.gardens import NOTES, edit_outside, plant
from tests.support.planted import ada

_OF_THE_WALK = b" where text = 'walked to the quay' and until is null"


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        (b"delete from garden.recall_passages" + _OF_THE_WALK, "is missing"),
        (b"update garden.recall_passages set until = now()" + _OF_THE_WALK, "is missing"),
        (b"update garden.recall_passages set text = 'swam'" + _OF_THE_WALK, "has another text"),
        (b"update garden.recall_passages set words = '\\x00000001'" + _OF_THE_WALK, "has another words"),
        (b"update garden.recall_passages set previous = 7" + _OF_THE_WALK, "has another previous"),
        (b"update garden.recall_passages set day = '2020-01-01' where text like '%:%'", "has another day"),
        (b"update garden.recall_passages set tags = '{sea}'" + _OF_THE_WALK, "has another tags"),
        (
            b"insert into garden.recall_passages (user_id, passage, since, path, anchor, name, heading,"
            b" language, event_id, day, text, words) select user_id, 7, since, path, anchor, 'other',"
            b" heading, language, event_id, day, 'swam', words from garden.recall_passages" + _OF_THE_WALK,
            "/other is not in its text",
        ),
        (b"update garden.recall_passages set until = null where until is not null", "is not in its text"),
    ],
)
def test_a_wrong_row_is_found_and_a_rebuild_mends_it(garden: Garden, statement: bytes, fault: str) -> None:
    plant(ada(garden), NOTES)
    write(ada(garden), NOTES, "slept well", "walked to the quay", "2026-03-01: was right")
    edit_outside(garden, NOTES, "- slept well\n", "")
    write(ada(garden), NOTES, "swam")
    change_rows(garden, statement)
    [found] = faults(garden)
    assert found.startswith(f"{NOTES}: the passage #")
    assert found.endswith(fault)
    rebuild_all(garden)
    assert faults(garden) == []


def test_rows_without_a_document_are_found_and_removed(garden: Garden) -> None:
    plant(ada(garden), NOTES)
    write(ada(garden), NOTES, "slept well")
    change_rows(garden, b"update garden.recall_passages set path = 'users/ada/parts/nowhere/notes.md'")
    lost, *others = faults(garden)
    assert lost.startswith(f"{NOTES}: the passage #")
    assert others == [each for each in others if "nowhere" in each and each.endswith("is not in its text")]
    rebuild_all(garden)
    assert faults(garden) == []
    assert verify(garden.services, GardenPath(NOTES)).passages == 1
