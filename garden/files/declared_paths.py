"""The free-form paths that the kinds of a home declare: the others are no part of any garden.

A `GardenPath` alone has the right form. The files room makes and lists only what is declared here, and the
dispatcher refuses a request that names anything else.
"""

import re
from collections.abc import Callable, Iterable
from functools import cached_property

from garden.files.paths import ID, GardenPath, PathNotAllowedError
from garden.grammar.kinds.declaration import Kind

_DATE = "[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"


class DeclaredPaths:
    """The patterns of a home's kinds, which are read when a free-form path is first met."""

    def __init__(self, kinds: Callable[[], Iterable[Kind]]) -> None:
        self._kinds = kinds

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """Every declared pattern, such as `memories/{name}.md`."""
        return tuple(pattern for kind in self._kinds() for pattern in kind.paths)

    def allow(self, path: GardenPath, /) -> bool:
        """Whether a path is declared, or is of a kind that needs no declaration."""
        if path.free is None:
            return True
        is_document = path.document_name is not None
        below = (path.document if is_document else path).text.split("/", 2)[2]
        return (self._documents if is_document else self._folders).fullmatch(below) is not None

    def check(self, path: GardenPath) -> None:
        """Refuse a path that no kind declares."""
        if not self.allow(path):
            of_kind = [each for each in self.patterns if each.startswith(f"{path.free}/")] or self.patterns
            allowed = ", ".join(f"users/{path.user_id}/{pattern}" for pattern in of_kind) or "none"
            raise PathNotAllowedError(
                "no kind of this home declares it",
                hint=f"Free-form documents are allowed at: {allowed}. The operator declares others with "
                "`paths` in a file of the home's kinds folder.",
            )

    @cached_property
    def _documents(self) -> re.Pattern[str]:
        return _any_of(map(_expression, self.patterns))

    @cached_property
    def _folders(self) -> re.Pattern[str]:
        return _any_of(
            _expression("/".join(names[:depth]))
            for names in (pattern.split("/") for pattern in self.patterns)
            for depth in range(1, len(names))
        )


class _EveryPath(DeclaredPaths):
    def allow(self, _: GardenPath, /) -> bool:
        return True


EVERY_PATH: DeclaredPaths = _EveryPath(tuple)
"""Declares every path of the right form."""


def _expression(pattern: str) -> str:
    return re.sub(r"\{(\w+)\}", _placeholder, pattern.replace(".", r"\."))


def _placeholder(found: re.Match[str]) -> str:
    return _DATE if found[1] == "date" else ID


def _any_of(expressions: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(dict.fromkeys(expressions)) or "(?!)")
