"""Keywords: a fast search for many words in one pass, used before slower patterns."""

from collections.abc import Iterable

import re2


class Keywords:
    """A set of short words to search for at once, ignoring case."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = tuple(dict.fromkeys(words))
        options = re2.Options()
        options.literal = True
        options.case_sensitive = False
        self._set = re2.Set.SearchSet(options)
        for word in self._words:
            self._set.Add(word)
        self._set.Compile()

    def found_in(self, text: str) -> frozenset[str]:
        """Return the words that occur in a text."""
        found = self._set.Match(text.encode("utf-8", "surrogatepass"))
        return frozenset(self._words[index] for index in found or ())
