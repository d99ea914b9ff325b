"""Signs: words without which a slower search is not worth beginning, all looked for in one pass."""

from collections.abc import Iterable

import re2


class Signs:
    """Many short words to look for at once, capital or small."""

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
        """Tell which of the words stand in a text."""
        found = self._set.Match(text.encode("utf-8", "surrogatepass"))
        return frozenset(self._words[index] for index in found or ())
