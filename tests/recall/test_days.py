"""A question that names a time prefers what is of that time, and what was written down soon after."""

import re
import sys
from datetime import date
from itertools import product
from string import ascii_lowercase

import numpy as np
import pytest

from garden.recall.days import _NUMBERS, NamedTime, closeness, named_time


@pytest.mark.parametrize(
    ("question", "time"),
    [
        ("What happened on 7 November 2024?", (2024, 11, 7)),
        ("Who came on March 3rd?", (None, 3, 3)),
        ("What did she buy in May?", (None, 5, None)),
        ("Was geschah am 7. November 2024?", (2024, 11, 7)),
        ("¿Qué pasó el 7 de noviembre de 2024?", (2024, 11, 7)),
        ("2024年11月7日に何がありましたか", (2024, 11, 7)),
        ("the entry of 2024-11-07", (2024, 11, 7)),
        ("How was 1998 different from July 2023?", (2023, 7, None)),
        ("EN DÉCEMBRE 2024", (2024, 12, None)),
        ("What may I march to, and when?", None),
    ],
)
def test_a_time_is_read_in_the_forms_people_write(
    question: str, time: tuple[int | None, int | None, int | None] | None
) -> None:
    assert named_time(question) == (NamedTime(*time) if time else None)


def test_letters_that_look_or_fold_like_those_of_a_month_are_no_fault() -> None:
    letters = [chr(code) for code in range(128, sys.maxunicode + 1)]
    alike = [each for each in letters if re.search("[a-z]", f"{each} {each.casefold()}", re.IGNORECASE)]
    assert {"\u0130", "\u0131", "\u017f", "\u212a"} < set(alike)
    for month, letter, like in product(_NUMBERS, ascii_lowercase, alike):
        if letter in month:
            named_time(f"in {month.replace(letter, like)} 2024")
    assert named_time("in apr\u0131l") is named_time("in augu\u017ft 2024") is None


def test_the_days_of_a_time_are_closest_and_those_soon_after_half_as_close() -> None:
    days = np.array([date(2024, 5, day).toordinal() - 1 for day in (6, 7, 9, 30)], np.int32)
    assert closeness(NamedTime(2024, 5, 7), days).tolist() == [0, 1, 0.5, 0]
    assert closeness(NamedTime(None, 5, None), days).tolist() == [1, 1, 1, 1]
    assert closeness(NamedTime(2023, None, None), days).tolist() == [0, 0, 0, 0]
