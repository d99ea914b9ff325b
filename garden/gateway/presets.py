"""Rate limits by name, as presets and settings give them, and the windows that a call counts against."""

from collections.abc import Mapping

from garden.events.call_counts import CallWindow
from garden.home.settings import Preset

_STRICT = {
    "all_minute": 100,
    "all_hour": 2000,
    "actor_minute": 10,
    "actor_hour": 200,
    "burst": 3,
    "fs.read": 5,
    "fs.search": 3,
}
PRESETS: Mapping[Preset | None, Mapping[str, int]] = {
    None: {},
    "strict": _STRICT,
    "default": {name: 20 * calls for name, calls in _STRICT.items()},
}
"""The limits of the presets: of all actors of a user, of one actor, and of one actor and tool in a minute."""

LIMITS = tuple(name for name in _STRICT if "." not in name)
"""The names of limits that are not those of tools."""


def narrower(limits: Mapping[str, int], others: Mapping[str, int]) -> Mapping[str, int]:
    """Of each limit the smaller one; 0 is no limit, but no burst."""
    narrowed = {name: min(limits.get(name) or calls, calls) for name, calls in others.items()}
    if "burst" in limits and "burst" in others:
        narrowed["burst"] = min(limits["burst"], others["burst"])
    return {**limits, **narrowed}


def call_windows(limits: Mapping[str, int], actor: str, tool: str) -> tuple[CallWindow, ...]:
    """The windows that a call of an actor counts against."""
    own, burst = f"actor {actor}", limits.get("burst", 0)
    every = (
        ("all_minute", "all", 60),
        ("all_hour", "all", 3600),
        ("actor_minute", own, 60),
        ("actor_hour", own, 3600),
        (tool, f"{tool} {own}", 60),
    )
    return tuple(CallWindow(*each, limits[each[0]] + burst) for each in every if limits.get(each[0]))
