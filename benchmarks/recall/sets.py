"""The sets: gardens as rows of passages, and questions with the passages that answer them.

Half of the questions, by a hash of their ids, are held out: no weight is chosen by them.
"""

import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from garden.events.passages import PassageRow
from garden.grammar.parser import parse
from garden.passages.naming import Naming
from garden.passages.rows import rows_of

DATA = Path(__file__).parent / "data"
SAMPLE_USERS = Path(__file__).parents[2] / "sample_users"
_TODAY = date(2026, 11, 19)
_NAMING = Naming(b"names of passages in benchmarks")

_NAMES = ("Nadia", "Jonas")

Place = Callable[[str], Iterable[int]]


class Question(NamedTuple):
    """A question, and the places of the passages that answer it; none, where nothing does."""

    id: str
    kind: str
    level: str
    words: str
    evidence: frozenset[int]

    @property
    def is_held_out(self) -> bool:
        return zlib.crc32(self.id.rpartition(":")[2].encode()) % 2 == 1


class Set(NamedTuple):
    """A garden's passages in order, and questions about them."""

    name: str
    family: str
    rows: tuple[PassageRow, ...]
    questions: tuple[Question, ...]


def all_sets() -> Iterator[Set]:
    """Read the sets that are written by hand, and make the garden of 5,000 passages."""
    from benchmarks.recall.generated import generated_set

    talks = [_talk(path) for path in sorted((DATA / "dialogues").glob("*.md"))]
    yield from talks
    yield _long_talk(talks)
    yield (documents := _documents())
    yield _mixed([talks[-1], documents])
    yield from map(_sample, sorted(path for path in SAMPLE_USERS.iterdir() if path.is_dir()))
    yield generated_set()


def _talk(path: Path) -> Set:
    """Read a dialogue; evidence names the day of a turn and its number."""
    rows = rows_of_garden([(f"users/{path.stem}/notes.md", path.read_text("utf-8"))])
    numbers: Counter[date] = Counter()
    turns: dict[str, int] = {}
    for place, row in enumerate(rows):
        numbers[row.day] += 1
        turns[f"{row.day}/{numbers[row.day]}"] = place
    questions = _questions(path.with_suffix(".jsonl"), lambda evidence: [turns[evidence]])
    return Set(path.stem, "dialogue", rows, questions)


def _long_talk(talks: Sequence[Set]) -> Set:
    """All dialogues as one between the same two people, so that there is more to mistake for an answer."""
    texts: list[str] = []
    questions: list[Question] = []
    for talk in talks:
        names = {
            name.capitalize(): as_name for name, as_name in zip(talk.name.split("-and-"), _NAMES, strict=True)
        }
        for question in talk.questions:
            evidence = frozenset(place + len(texts) for place in question.evidence)
            words, name = _renamed(question.words, names), f"long:{question.id}"
            questions.append(question._replace(id=name, words=words, evidence=evidence))
        texts += [f"- {_renamed(row.text, names)}" for row in talk.rows]
    rows = rows_of_garden([("users/long/notes.md", "## Inbox\n\n" + "\n".join(texts) + "\n")])
    return Set("long", "long talk", rows, tuple(questions))


def _mixed(sets: Sequence[Set]) -> Set:
    """Several sets in one garden."""
    rows: list[PassageRow] = []
    questions: list[Question] = []
    for each in sets:
        for question in each.questions:
            evidence = frozenset(place + len(rows) for place in question.evidence)
            questions.append(
                question._replace(id=f"mixed:{question.id}", level=each.family, evidence=evidence)
            )
        rows += each.rows
    return Set("mixed", "mixed", tuple(rows), tuple(questions))


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return re.sub(rf"\b(?:{'|'.join(names)})\b", lambda match: names[match[0]], text)


def _documents() -> Set:
    """Read the documents, as profiles of parts."""
    paths = sorted((DATA / "documents").glob("*.md"))
    texts = [(f"users/documents/parts/{path.stem}/profile.md", path.read_text("utf-8")) for path in paths]
    return _quoted("documents", "documents", texts, DATA / "documents.jsonl")


def _sample(user: Path) -> Set:
    """Read the questions about the garden of a sample user."""
    paths = sorted(user.rglob("*.md"))
    texts = [(f"users/{path.relative_to(user.parent)}", path.read_text("utf-8")) for path in paths]
    return _quoted(user.name, "samples", texts, DATA / "sample_users" / f"{user.name}.jsonl")


def _quoted(name: str, family: str, texts: Iterable[tuple[str, str]], questions: Path) -> Set:
    """Read a set whose evidence is words of passages: all with these words answer the question."""
    rows = rows_of_garden(texts)
    said = [" ".join(row.text.split()) for row in rows]
    return Set(
        name,
        family,
        rows,
        _questions(questions, lambda words: [place for place, text in enumerate(said) if words in text]),
    )


def rows_of_garden(documents: Iterable[tuple[str, str]]) -> tuple[PassageRow, ...]:
    """The passages of documents, in order, as they are indexed."""
    return tuple(
        row for path, text in documents for row in rows_of(parse(text), None, path, _TODAY, _NAMING).values()
    )


def _questions(path: Path, places: Place) -> tuple[Question, ...]:
    found = []
    for line in path.read_text("utf-8").splitlines():
        given = json.loads(line)
        evidence = [list(places(each)) for each in given["evidence"]]
        assert all(evidence), f"{given['id']}: no passage has this evidence"
        found.append(
            Question(
                given["id"],
                given["kind"],
                given.get("level", ""),
                given["question"],
                frozenset(place for each in evidence for place in each),
            )
        )
    return tuple(found)
