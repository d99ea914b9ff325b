"""The composition root: opens a garden and connects its parts."""

from collections.abc import Mapping
from contextlib import ExitStack
from datetime import timedelta
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from garden.events.approvals import ApprovalStore
from garden.events.call_counts import CallCounts
from garden.events.calls import CallLog
from garden.events.pool import Pool
from garden.events.recall_usage import RecallUsage
from garden.files.declared_paths import DeclaredPaths
from garden.files.garden_files import GardenFiles
from garden.gateway.access import Access, Surface
from garden.gateway.account import CallRecord
from garden.gateway.approvals import Approvals
from garden.gateway.dispatcher import Dispatcher, Gates, Watch
from garden.gateway.limits import RateLimits
from garden.gateway.policies import Policies
from garden.home.disk_space import DiskSpace
from garden.home.embedded import EmbeddedPostgres
from garden.home.keys import KeySource
from garden.home.settings import Settings, load_settings
from garden.home.setup import PreparedHome, Progress, ignore_progress, prepare_home, read_own_kinds
from garden.session import Session
from garden.tools.registry import REGISTRY
from garden.writing.callers import make_caller
from garden.writing.services import Services

if TYPE_CHECKING:
    from garden.gateway.decisions import Decisions
    from garden.gateway.exports import Exports
    from garden.gateway.feed import Feed
    from garden.gateway.health import HealthReader
    from garden.gateway.lookups import Lookups
    from garden.gateway.needs import Needs
    from garden.gateway.sign_ins import SignIns
    from garden.gateway.tokens import Tokens

_RECOVERERS_MAX = 4
_RECOVERY_LOCK_SECONDS = 0.5


class Garden:
    """An open garden home, for many threads and processes at once."""

    def __init__(self, settings: Settings, prepared: PreparedHome) -> None:
        self.settings = settings
        self.home = prepared.home
        self.keys = KeySource(settings, prepared.home)
        self._prepared = prepared
        self._own_kinds = read_own_kinds(prepared.home)
        with ExitStack() as stack:
            # Readers have their own connections: a lock holder may have to read while every writer connection
            # waits for its lock.
            revive = EmbeddedPostgres(prepared.home).revive if settings.database_url is None else None
            writers, readers = (
                stack.enter_context(Pool(prepared.database_url, revive=revive)) for _ in range(2)
            )
            # Recovery does not wait long for a lock: a live holder finishes its own change.
            recoverers = stack.enter_context(
                Pool(
                    prepared.database_url,
                    size_max=_RECOVERERS_MAX,
                    lock_seconds=_RECOVERY_LOCK_SECONDS,
                    revive=revive,
                )
            )
            self.pools = {"writers": writers, "readers": readers, "recoverers": recoverers}
            usage, calls = RecallUsage(readers), CallLog(readers, settings.gateway.calls_keep_days)
            stack.callback(usage.close)
            stack.callback(calls.close)
            declared = DeclaredPaths(lambda: self.services.documents.kinds.values())
            at_once = {
                "files": stack.enter_context(GardenFiles(prepared.home.path, declared=declared)),
                "disk_space": DiskSpace(prepared.home.path, settings.limits.free_disk_bytes),
                "limits": settings.limits,
                "secrets": settings.secrets,
                "timezone": settings.timezone,
                "language": settings.language,
                "upkeep": settings.upkeep,
                "usage": usage,
                "calls": calls,
                "sessions": settings.sessions,
                "home": prepared.home,
                "keys": self.keys,
                "tlog": settings.tlog,
            }
            self.services = Services(at_once, self._reading_parts, self._writing_parts, self._recall_parts)
            if self._own_kinds:
                # A wrong declaration is an error of every command.
                self.services.documents  # noqa: B018 - made by being asked for
            policies = Policies(settings.gateway, prepared.home.path, REGISTRY)
            limits = RateLimits(CallCounts(readers))
            self._open = stack.pop_all()
        store, seconds = ApprovalStore(self.pools["readers"]), settings.gateway.approval_seconds
        self.gates = Gates(policies, limits, Approvals(store, self.keys, seconds), partial(CallRecord, calls))
        self._dispatcher = Dispatcher(self.services, REGISTRY, self.gates)

    @cached_property
    def lookups(self) -> "Lookups":
        """Texts, versions, events and diffs."""
        from garden.gateway.lookups import Lookups

        return Lookups(self.services, self._dispatcher)

    @cached_property
    def decisions(self) -> "Decisions":
        """The decisions about calls that were asked about."""
        from garden.gateway.decisions import Decisions

        return Decisions(self.gates.approvals.store, self._dispatcher)

    @cached_property
    def needs(self) -> "Needs":
        """What needs a person."""
        from garden.gateway.needs import Needs

        return Needs(self.services, self._dispatcher)

    @cached_property
    def exports(self) -> "Exports":
        """Gardens as files to take away."""
        from garden.gateway.exports import Exports

        return Exports(self.services, self._dispatcher)

    @cached_property
    def tokens(self) -> "Tokens":
        """The access tokens."""
        from garden.events.tokens import TokenStore
        from garden.gateway.tokens import Tokens

        return Tokens(TokenStore(self.pools["readers"], self.keys))

    @cached_property
    def sign_ins(self) -> "SignIns":
        """The sign-ins of the console."""
        from garden.events.sign_ins import SignInStore
        from garden.gateway.sign_ins import SignIns

        lasting = timedelta(hours=self.settings.serve.sign_in_hours)
        return SignIns(SignInStore(self.pools["readers"], self.keys), self.tokens, lasting)

    @cached_property
    def feed(self) -> "Feed":
        """The feed of events."""
        from garden.gateway.feed import Feed

        feed = Feed(self._prepared.database_url, self.pools["readers"])
        self._open.callback(feed.close)
        return feed

    @cached_property
    def health(self) -> "HealthReader":
        """How the gardens and the home are doing."""
        from garden.gateway.health import HealthReader

        health = HealthReader(self.services, self._dispatcher, CallCounts(self.pools["readers"]))
        self._open.callback(health.close)
        return health

    def session(
        self,
        user_id: str,
        actor: str = "agent",
        *,
        role: str = "agent",
        transaction_id: str | None = None,
        agent_action_id: str | None = None,
        surface: Surface = "python",
        policy: Mapping[str, Any] | None = None,
        request_id: str | None = None,
    ) -> Session:
        """Open a session for one user; the ids are recorded with all of its events.

        `policy` is that of the caller's token, which narrows the policy of the home.
        """
        caller = make_caller(
            user_id, actor, role, transaction_id=transaction_id, agent_action_id=agent_action_id
        )
        return Session(self._dispatcher, Access(caller, surface, policy, request_id), self.gates.approvals)

    def watch_calls(self, watch: Watch) -> None:
        """Report every call of every session to this function."""
        self._dispatcher.watch(watch)

    def load(self) -> Self:
        """Make every part now; returns the garden."""
        self.services.load()
        self.lookups, self.tokens, self.feed, self.decisions  # noqa: B018 - made by being asked for
        return self

    def close(self) -> None:
        """Close connections and threads; an embedded database keeps running for other processes."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _reading_parts(self, _: Services) -> Mapping[str, Any]:
        from garden.events.log_leaves import LogLeaves
        from garden.events.reader import EventReader
        from garden.events.recall_reader import RecallReader
        from garden.events.versions import VersionReader
        from garden.grammar.kinds.catalogue import load_kinds
        from garden.writing.documents import Documents

        documents = Documents(load_kinds(self._own_kinds))
        readers = self.pools["readers"]
        return {
            "documents": documents,
            "reader": EventReader(readers),
            "versions": VersionReader(readers),
            "memories": RecallReader(readers),
            "log_leaves": LogLeaves(readers),
        }

    def _writing_parts(self, services: Services) -> Mapping[str, Any]:
        from garden.parts import writing_parts

        return writing_parts(services, self.pools, self.keys)

    def _recall_parts(self, _: Services) -> Mapping[str, Any]:
        from garden.parts import recall_parts

        return recall_parts(self.settings, self.pools)


def open_garden(
    home: str | Path | None = None, *, create: bool = True, report: Progress = ignore_progress
) -> Garden:
    """Open the garden in this folder or in the settings' folder.

    A missing home is made, and the log names it; without `create` it is refused.
    """
    settings = load_settings(Path(home) if home is not None else None).settings
    return Garden(settings, prepare_home(settings, report, may_create=create)).load()
