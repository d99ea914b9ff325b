"""Signs: many patterns searched in one pass, which rules out most of the slower ones."""

from collections.abc import Iterable

import re2


class Signs:
    """Patterns in the syntax of RE2 to search for at once, ignoring case."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = tuple(dict.fromkeys(patterns))
        options = re2.Options()
        options.case_sensitive = False
        self._set = re2.Set.SearchSet(options)
        for pattern in self._patterns:
            self._set.Add(pattern)
        self._set.Compile()

    def found_in(self, text: str) -> frozenset[str]:
        r"""Return the patterns that occur in a text, with a lone surrogate written as `\ud800`."""
        found = self._set.Match(text.encode("utf-8", "backslashreplace"))
        return frozenset([self._patterns[index] for index in found]) if found else frozenset()
