"""The texts for agents, each in a file of its own, with placeholders in braces."""

from functools import cache
from importlib.resources import files


def render_text(name: str, **values: str) -> str:
    """Return a text with its placeholders filled."""
    return _template(name).format(**values)


@cache
def _template(name: str) -> str:
    return (files(__package__) / f"{name}.md").read_text("utf-8")
