"""Query parameters, in the strictest reading: each once, and none that is not known."""

from collections.abc import Collection

from starlette.datastructures import QueryParams

from garden.surfaces.web.problems import NotAcceptedError
from garden.tools.requests import shortened


def only(parameters: QueryParams, known: Collection[str]) -> dict[str, str]:
    """Take the parameters, unless there is one that means nothing here."""
    taken: dict[str, str] = {}
    for name, value in parameters.multi_items():
        if name not in known:
            wish = f"There are: {', '.join(sorted(known))}." if known else "Leave it out."
            raise NotAcceptedError(f"There is no parameter {shortened(name)}.", hint=wish)
        if name in taken:
            raise NotAcceptedError(f"The parameter {name} is given twice.", hint="Give it once.")
        taken[name] = value
    return taken
