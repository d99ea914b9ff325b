"""The rows of an index, from passages that are in no database."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from garden.events.passages import PassageRow
from garden.recall.segment import Columns, Group


def rows_of_passages(
    passages: Sequence[PassageRow], group_of: Callable[[Group], int], vectors: NDArray[np.int8]
) -> Columns:
    """The rows of passages, each with its vector; a vector of zeros stands for none."""
    return Columns(
        np.array([each.passage for each in passages], np.int64),
        np.array([each.previous or 0 for each in passages], np.int64),
        np.array([each.day.toordinal() - 1 for each in passages], np.int32),
        np.array([group_of(Group(*each[1:3], *each[4:6])) for each in passages], np.int32),
        np.array([len(each.words) // 4 for each in passages], np.int32),
        np.frombuffer(b"".join(each.words for each in passages), "<u4"),
        np.asarray(vectors.any(axis=1)),
        vectors,
    )
