"""Where a version or a passage came from: a person, an agent, an outside edit or an import."""

from typing import Literal

from garden.events.recall_reader import FoundPassage
from garden.events.versions import Version
from garden.writing.adoption import ADOPTED_TYPE
from garden.writing.callers import Role

Origin = Literal["person", "agent", "adopted", "imported"]
_IMPORT_OP = "import"


def origin_of(event: Version | FoundPassage) -> Origin:
    """The class of an event's author; reviewers and maintainers are persons, and an unknown one is not."""
    if event.type == ADOPTED_TYPE or not event.role:
        return "adopted"
    if event.op == _IMPORT_OP:
        return "imported"
    return "agent" if event.role == Role.AGENT else "person"
