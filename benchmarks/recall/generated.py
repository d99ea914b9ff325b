"""A garden of 5,000 passages that differ by a name, a place or a reason, and questions about them."""

import tomllib
from datetime import date, timedelta
from random import Random
from typing import Any

from benchmarks.recall.sets import DATA, Question, Set, rows_of_garden

PASSAGES = 5_000
_QUESTIONS_OF_TOPIC = 7
_FILLER_SHARE = 0.4
_FIRST_DAY, _DAYS = date(2023, 1, 1), 1_000
_HEAD = """---
id: {slug}
user_id: generated
schema: 1
---

# {name}

## Inbox
<!-- @anchor: inbox v1 -->

"""


class _Entry:
    """An entry as it was drawn: its topic, the words in its gaps, and its text."""

    def __init__(self, chance: Random, data: dict[str, Any], name: str) -> None:
        self.day = _FIRST_DAY + timedelta(days=chance.randrange(_DAYS))
        self.topic = None if chance.random() < _FILLER_SHARE else chance.choice(data["topics"])
        words = self.topic["words"] if self.topic else {}
        self.words = {"name": name} | {gap: chance.choice(choices) for gap, choices in words.items()}
        form = self.topic["entry"] if self.topic else chance.choice(data["fillers"])
        self.text = form.format(**self.words)


def generated_set(seed: int = 1) -> Set:
    """Make the garden and its questions; a seed always makes the same ones."""
    data = tomllib.loads((DATA / "generated.toml").read_text("utf-8"))
    chance = Random(seed)  # noqa: S311 - nothing secret
    people = data["people"]
    entries = [_Entry(chance, data, people[number % len(people)]) for number in range(PASSAGES)]
    rows = rows_of_garden(_document(name, entries) for name in people)
    texts: dict[str, set[int]] = {}
    days: dict[tuple[str, str], set[int]] = {}
    for place, row in enumerate(rows):
        person = row.path.split("/")[3]
        texts.setdefault(row.text.partition(": ")[2], set()).add(place)
        days.setdefault((person, str(row.day)), set()).add(place)
    questions: list[Question] = []

    def ask(kind: str, words: str, evidence: set[int]) -> None:
        questions.append(Question(f"generated-{len(questions):03}", kind, "", words, frozenset(evidence)))

    for topic in data["topics"]:
        alike = [entry for entry in entries if entry.topic is topic]
        for number, entry in enumerate(chance.sample(alike, _QUESTIONS_OF_TOPIC)):
            words = topic["question"].format(**entry.words)
            # Other entries may answer the question too: those that share all of its words.
            shared = {gap: word for gap, word in entry.words.items() if f"{{{gap}}}" in topic["question"]}
            same = {each.text for each in alike if shared.items() <= each.words.items()}
            evidence = set().union(*(texts[text] for text in same))
            is_typo = number == 0 and topic["language"] not in ("ja", "th")
            kind = "typo" if is_typo else "language" if topic["language"] != "en" else "near miss"
            ask(kind, _mistyped(chance, words) if is_typo else words, evidence)
        stranger = entry.words | {"name": chance.choice(data["strangers"])}
        ask("nothing", topic["question"].format(**stranger), set())
    for entry in chance.sample([each for each in entries if each.topic], 16):
        name = entry.words["name"]
        day = f"{entry.day.day} {entry.day:%B %Y}"
        ask("date", f"What happened to {name} on {day}?", days[name.lower(), str(entry.day)])
    return Set("generated", "generated", rows, tuple(questions))


def _document(name: str, entries: list[_Entry]) -> tuple[str, str]:
    own = sorted((each for each in entries if each.words["name"] == name), key=lambda each: each.day)
    lines = "\n".join(f"- {each.day}: {each.text}" for each in own)
    return f"users/generated/parts/{name.lower()}/notes.md", _HEAD.format(
        slug=name.lower(), name=name
    ) + lines


def _mistyped(chance: Random, words: str) -> str:
    """Swap two letters inside a long word."""
    long = [word for word in words.split() if len(word) > 5 and word.isalpha()] or [
        max(words.split(), key=len)
    ]
    word = chance.choice(long)
    at = chance.randrange(1, len(word) - 2)
    return words.replace(word, word[:at] + word[at + 1] + word[at] + word[at + 2 :], 1)
