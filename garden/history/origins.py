"""Where a version came from: a person, an agent, an outside edit or an import."""

from typing import Literal

from garden.events.versions import Version
from garden.writing.adoption import ADOPTED_TYPE
from garden.writing.callers import Role

Origin = Literal["person", "agent", "adopted", "imported"]
_IMPORT_OP = "import"


def origin_of(version: Version) -> Origin:
    """The class of a version's author; reviewers and maintainers are persons."""
    if version.type == ADOPTED_TYPE:
        return "adopted"
    if version.op == _IMPORT_OP:
        return "imported"
    return "agent" if version.role == Role.AGENT else "person"
