"""The words that agents are given, each in a file of its own, with names in braces for what is filled in."""

from functools import cache
from importlib.resources import files


def filled_in(name: str, **values: str) -> str:
    """Give a text with its names filled in."""
    return _text(name).format(**values)


@cache
def _text(name: str) -> str:
    return (files(__package__) / f"{name}.md").read_text("utf-8")
