"""Loads the kinds: those of the package and those that an operator adds."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType

from garden.grammar.kinds.declaration import Kind, read_kind


def load_kinds(extra: Iterable[tuple[str, str]] = ()) -> Mapping[str, Kind]:
    """Read the built-in kinds, then an operator's declarations as (file name, text) pairs.

    A declaration adds a kind or changes one: `extends = "notes"` inherits everything from that kind that the
    declaration does not set. Only such an extension may use the name of an existing kind.
    """
    kinds = dict(_built_in())
    for name, text in extra:
        kind = read_kind(name, text, kinds)
        kinds[kind.kind] = kind
    return MappingProxyType(kinds)


@lru_cache(maxsize=1)
def _built_in() -> Mapping[str, Kind]:
    kinds: dict[str, Kind] = {}
    folder = files("garden.grammar.kinds")
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".toml"):
            kind = read_kind(file.name, file.read_text(encoding="utf-8"), kinds)
            kinds[kind.kind] = kind
    return MappingProxyType(kinds)
