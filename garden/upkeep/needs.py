"""What needs a person: documents that no job can mend, findings, secrets, copies of sync programs."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from garden.files.paths import GardenPath
from garden.grammar.errors import GardenError
from garden.lint.finding import Severity
from garden.lint.secrets import as_seen, may_hold_certain_secret, secrets_in
from garden.upkeep.seen import Seen
from garden.upkeep.status import DocumentStatus, State, status_of_user
from garden.writing.lost_lines import tells_of_lost_lines
from garden.writing.services import Services

What = Literal[
    "quarantined", "damaged", "missing", "unreadable", "lines lost", "secret", "sync copy", "findings"
]

_ORDER: tuple[What, ...] = get_args(What)
_CLEAN_MAX = 100_000
_STATES: Mapping[State, What] = {
    State.QUARANTINED: "quarantined",
    State.DAMAGED: "damaged",
    State.MISSING: "missing",
    State.UNREADABLE: "unreadable",
}
# What to type is for terminals; other surfaces have ways out of their own.
_COMMAND = re.compile(r" ?(?:Remove the cause, then run )?'garden [^']*'[^.']*\.")
# As Syncthing, Dropbox, Nextcloud and others name the copy that loses.
_SYNC_COPY = re.compile(
    r"sync-conflict-|conflicted copy|_conflict-\d|^(?:overview|notes|profile)(?: copy| ?\(\d+\)| \d+)+\.md$"
)


@dataclass(frozen=True)
class Need:
    """Something that only a person can put right."""

    what: What
    path: str
    message: str
    version: int = 0


@dataclass
class Looked:
    """What a process remembers of earlier looks, so that unchanged documents are not read again."""

    seen: Seen = field(default_factory=Seen)
    without_secrets: dict[str, str] = field(default_factory=dict)


def needs_of(services: Services, user_id: str, looked: Looked) -> list[Need]:
    """Find what needs a person in a user's garden, the most urgent first."""
    with services.reader.snapshot(user_id) as snapshot:
        heads = snapshot.fetch("heads_with_findings", {})
    statuses = status_of_user(services, user_id, linted=False, seen=looked.seen)
    found = [
        *(need for status in statuses if (need := _need_of(status))),
        *_secrets(services, heads, looked.without_secrets),
        *_sync_copies(services, user_id),
        *filter(None, map(_findings, heads)),
    ]
    # A document may be damaged by its status and by its findings.
    each = {(need.what, need.path): need for need in reversed(found)}.values()
    return sorted(each, key=lambda need: (_ORDER.index(need.what), need.path))


def _need_of(status: DocumentStatus) -> Need | None:
    what = _STATES.get(status.state)
    if status.state is State.DRIFTED and tells_of_lost_lines(status.message):
        what = "lines lost"
    message = _COMMAND.sub("", status.message)
    return Need(what, status.path, message, status.version) if what else None


def _findings(head: Mapping[str, Any]) -> Need | None:
    if head["blocked"]:
        return Need("damaged", head["path"], f"No tool can edit it: {head['blocked'][0]}", head["version"])
    counts = head["counts"] or {}
    numbers = ((counts.get(Severity.CAP), "over a limit"), (counts.get(Severity.STYLE), "of form"))
    message = ", ".join(f"{number} {word}" for number, word in numbers if number)
    return Need("findings", head["path"], f"Findings: {message}.", head["version"]) if message else None


def _secrets(services: Services, heads: list[dict[str, Any]], known: dict[str, str]) -> Iterator[Need]:
    for head in heads:
        path = head["path"]
        if known.get(path) == head["raw_hash"]:
            continue
        try:
            file = services.files.read(GardenPath(path))
        except GardenError:
            # Its status says more.
            continue
        if what := _certain_secret(file.text):
            message = f"It holds {what}. Change the secret where it is used, and erase it here."
            yield Need("secret", path, message, head["version"])
        elif len(known) < _CLEAN_MAX:
            known[path] = file.hash


def _certain_secret(text: str) -> str | None:
    plain = as_seen(text)
    if not may_hold_certain_secret(plain):
        return None
    return next((each.what for each in secrets_in(plain) if each.certain), None)


def _sync_copies(services: Services, user_id: str) -> Iterator[Need]:
    for path in services.files.others(GardenPath(f"users/{user_id}")):
        if _SYNC_COPY.search(path.rpartition("/")[2]):
            message = (
                "A sync program kept two versions, and no tool sees this one. Compare it with the document "
                "beside it, take over what is missing with an editor, then move this file away."
            )
            yield Need("sync copy", path, message)
