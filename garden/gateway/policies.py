"""Policies: which tools a caller may call, how often, and which calls need an approval."""

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from garden.events.call_counts import CallWindow
from garden.gateway.access import Access
from garden.gateway.presets import LIMITS, PRESETS, call_windows, narrower
from garden.grammar.errors import GardenError
from garden.home.logs import get_logger
from garden.home.settings import (
    FILE_NAME,
    ActorPolicy,
    Gateway,
    Permission,
    SettingsError,
    TokenPolicy,
    load_settings,
    place_in_file,
    suggest,
)
from garden.tools.declaration import PHASES, Phase, Tool

_PERMISSIONS: tuple[Permission, ...] = ("allow", "ask", "deny")
_RENEW_SECONDS = 1.0
_RULES_KEPT_MAX = 1000

Tools = Mapping[str, Tool[Any]]


class NotListedError(GardenError):
    """The caller's phase does not have this tool."""

    code = "permission_denied"


@dataclass(frozen=True)
class Rules:
    """The policies for one way in: of the home, of the actor, and of the token, which narrows them."""

    gateway: Gateway
    actor: ActorPolicy
    name: str = ""
    token: TokenPolicy = field(default_factory=TokenPolicy)

    @property
    def phase(self) -> Phase:
        """The phase of the caller."""
        own = self.actor.phase or self.gateway.phase
        return min(own, self.token.phase or own, key=PHASES.index)

    def has(self, tool: Tool[Any]) -> bool:
        """Whether the caller's phase has this tool, or it was added."""
        return self.listing(tool)[0]

    def offers(self, tool: Tool[Any], role: str) -> bool:
        """Whether a caller of this role finds the tool in lists: it is theirs, and not denied."""
        return role in tool.traits.roles and self.permission(tool) != "deny"

    def listing(self, tool: Tool[Any]) -> tuple[bool, str]:
        """Whether the caller has this tool, and why."""
        belongs, needed = f"it belongs to the phase {tool.traits.phase}", PHASES.index(tool.traits.phase)
        for whose, policy in (("token", self.token), ("operator", self.actor)):
            if tool.name in policy.remove:
                return False, f"{belongs}, and the {whose}'s policy removes it"
        if tool.name in self.actor.add and needed <= PHASES.index(self.token.phase or PHASES[-1]):
            return True, f"{belongs}, and the operator's policy adds it"
        return needed <= PHASES.index(self.phase), f"{belongs}, and yours is {self.phase}"

    def check_listed(self, tool: Tool[Any]) -> None:
        """Refuse a tool that the caller's phase does not have."""
        has, why = self.listing(tool)
        if not has:
            raise NotListedError(
                f"{tool.name} is not for you: {why}.",
                hint="tools.list names the tools that you may call; the operator's policy adds others.",
                details={"tool": tool.name, "phase": tool.traits.phase},
            )

    def permission(self, tool: Tool[Any]) -> Permission:
        """Whether a call of this tool is allowed, asked about or denied; one that is not listed is denied."""
        return self.verdict(tool)[0] if self.has(tool) else "deny"

    def verdict(self, tool: Tool[Any]) -> tuple[Permission, str]:
        """The permission of this tool, and the setting that gives it."""
        found = (
            _permission(self.actor.permissions, tool.name, f"gateway.actors.{self.name}.permissions")
            or _permission(self.gateway.permissions, tool.name, "gateway.permissions")
            or ("allow", "the default")
        )
        own = _permission(self.token.permissions, tool.name, "the token's policy")
        return max(found, own or found, key=lambda each: _PERMISSIONS.index(each[0]))

    def windows(self, tool: Tool[Any]) -> tuple[CallWindow, ...]:
        """The rate limits that a call of this tool counts against."""
        return call_windows(self._limits, self.name, tool.name) if self._limits else ()

    @cached_property
    def _limits(self) -> Mapping[str, int]:
        limits: dict[str, int] = {}
        for policy in (self.gateway, self.actor):
            limits |= {**PRESETS[policy.preset], **policy.limits}
        return narrower(limits, PRESETS[self.token.preset])

    def deadline_seconds(self, tool: Tool[Any]) -> float:
        """Seconds that a call of this tool may take."""
        searches = tool.traits.cost == "many_documents"
        return self.gateway.search_deadline_seconds if searches else self.gateway.deadline_seconds


class Policies:
    """Finds the rules for a way in; a change of `garden.toml` takes effect while calls go on.

    A file that is broken, empty or gone changes nothing: it may be in the middle of being written.
    """

    def __init__(self, gateway: Gateway, home: Path, tools: Tools) -> None:
        check_names(gateway, tools, home)
        self._gateway, self._home, self._tools = gateway, home, tools
        self._rules: dict[str, Rules] = {}
        self._guard = threading.Lock()
        self._mark, self._renew_at = _mark(home), time.monotonic() + _RENEW_SECONDS

    def rules(self, access: Access) -> Rules:
        """The rules for a way in."""
        if time.monotonic() >= self._renew_at:
            self._renew()
        actor, kept = access.caller.actor, self._rules
        if access.policy is not None:
            return self._make(actor, TokenPolicy.model_validate(access.policy))
        if len(kept) >= _RULES_KEPT_MAX:
            kept.clear()
        return kept.get(actor) or kept.setdefault(actor, self._make(actor, TokenPolicy()))

    def _make(self, actor: str, token: TokenPolicy) -> Rules:
        return Rules(self._gateway, self._gateway.actors.get(actor, ActorPolicy()), actor, token)

    def _renew(self) -> None:
        """Read the settings again if their file has changed."""
        # Other calls go on with the rules that are there.
        self._renew_at = time.monotonic() + _RENEW_SECONDS
        with self._guard:
            mark = _mark(self._home)
            if mark in (None, self._mark):
                return
            self._mark = mark
            try:
                gateway = load_settings(self._home).settings.gateway
                check_names(gateway, self._tools, self._home)
                self._gateway = gateway
            except SettingsError as error:
                problem = error.message.replace(f"{self._home}/", "")
                get_logger("garden.gateway").error("the changed settings are not used", problem=problem)
            # Rules that are being made of the old policies go where no one looks any more.
            self._rules = {}


def check_names(policy: Gateway | TokenPolicy, tools: Tools, home: Path | None = None) -> None:
    """Refuse a policy that names a tool or a limit that does not exist."""
    for path, name in _names(policy, ("gateway",) if home else ()):
        known = [*tools, *LIMITS] if path[-1] == "limits" else tools
        # Only permissions take patterns; anywhere else one would never fit a tool, and do nothing.
        if name not in known and not (path[-1] == "permissions" and any(fnmatchcase(t, name) for t in tools)):
            place = f"{place_in_file(home, (*path, name))}: " if home else ""
            raise SettingsError(
                f"{place}{'.'.join(path)} names '{name}', which does not exist{suggest(name, known)}",
                hint="'garden tools' lists the tools."
                + (f" Other limits: {', '.join(LIMITS)}." if path[-1] == "limits" else ""),
                details={"names": list(known)},
            )


def _names(policy: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The names in a policy, each with the key that it stands below."""
    for key in ("add", "remove", "permissions", "limits"):
        for name in getattr(policy, key, ()):
            yield (*path, key), name
    for actor, own in getattr(policy, "actors", {}).items():
        yield from _names(own, (*path, "actors", actor))


def _mark(home: Path) -> tuple[int, ...] | None:
    """What a change of the settings' file changes; nothing while it is empty or gone."""
    try:
        state = (home / FILE_NAME).stat()
    except OSError:
        return None
    return (state.st_mtime_ns, state.st_size, state.st_ino) if state.st_size else None


def _permission(
    permissions: Mapping[str, Permission], tool: str, place: str
) -> tuple[Permission, str] | None:
    fitting = (pattern for pattern in permissions if fnmatchcase(tool, pattern))
    longest = max(fitting, key=len, default=None)
    return None if longest is None else (permissions[longest], f"{place}: '{longest}'")
