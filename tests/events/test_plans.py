"""Every query finds its rows by an index, sent as in production: with its role, under row-level security."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from garden.events.approvals import ApprovalStore
from garden.events.attempts import Attempts
from garden.events.calls import CallLog, blank_calls
from garden.events.database import connection
from garden.events.feed import FeedReader
from garden.events.keyring import Keyring
from garden.events.log_leaves import LogLeaves
from garden.events.maintenance import Maintenance
from garden.events.passages import PassageStore, StandingPassage, forget_earlier
from garden.events.pool import Pool
from garden.events.reader import EventReader, Query, WriteClaim
from garden.events.recall_reader import RecallReader
from garden.events.records import Caller
from garden.events.statements import statements
from garden.events.tokens import TokenStore
from garden.events.versions import VersionReader
from tests.support.databases import TestServer
from tests.support.explaining import ExplainingPool, explaining_pool, vacuum
from tests.support.many_events import fill

EVENTS, USERS, DOCUMENTS_OF_A_USER = 20_000, 20, 40
USER = "user-7"
PATH = f"users/{USER}/parts/part-3/notes.md"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = datetime(2026, 2, 1, tzinfo=UTC)
EVENING, HOUR = NOON + timedelta(hours=5.5), timedelta(hours=1)
CURSOR = UUID("019b796d-d600-7000-8000-000000000000")

Ask = Callable[[EventReader], object]

# Each query and the index it uses.
READING: dict[str, tuple[Ask, str]] = {
    "event": (lambda reader: reader.event(USER, CURSOR), "events_pkey"),
    "owed_overrides": (lambda reader: reader.owed_overrides(USER, PATH), "events_of_path"),
    "annotations_of": (
        lambda reader: in_snapshot(reader, "annotations_of", event_ids=[CURSOR]),
        "annotations_of_event",
    ),
    "head": (lambda reader: reader.head(USER, PATH), "documents_pkey"),
    "heads": (lambda reader: in_snapshot(reader, "heads"), "documents_pkey"),
    "newest_number": (
        lambda reader: reader.newest_number(USER, PATH),
        "feed_user_id_stream_sequence_key",
    ),
    "heads_with_damage": (
        lambda reader: in_snapshot(reader, "heads_with_damage", path=None),
        "documents_pkey",
    ),
    "streams": (lambda reader: in_snapshot(reader, "streams"), "events_user_id_stream_sequence_key"),
    "chain": (
        lambda reader: in_snapshot(reader, "chain", stream=PATH, after=3, limit=500),
        "events_user_id_stream_sequence_key",
    ),
    "newest_change": (
        lambda reader: in_snapshot(reader, "newest_change", stream=PATH, sequence=3),
        "events_user_id_stream_sequence_key",
    ),
    "heads_with_findings": (
        lambda reader: in_snapshot(reader, "heads_with_findings"),
        "documents_pkey",
    ),
    "has_documents": (lambda reader: reader.has_documents(USER, 60), "documents_pkey"),
    # It reads all events of the user, by one index of theirs or another.
    "row_marks": (lambda reader: in_snapshot(reader, "row_marks"), "documents_pkey"),
    "versions": (
        lambda reader: in_snapshot(reader, "versions", path=PATH, after=3, limit=500),
        "events_user_id_stream_sequence_key",
    ),
    "origins": (
        lambda reader: in_snapshot(reader, "origins", path=PATH, after=3),
        "events_user_id_stream_sequence_key",
    ),
    "annotation_chain": (
        lambda reader: in_snapshot(reader, "annotation_chain", after=3, limit=500),
        "event_annotations_user_id_sequence_key",
    ),
    "stored_requests": (
        lambda reader: in_snapshot(reader, "stored_requests", after="", limit=500),
        "idempotency_records_pkey",
    ),
    "whole_feed": (lambda reader: in_snapshot(reader, "whole_feed", after=3, limit=500), "feed_pkey"),
    "feed_faults": (lambda reader: in_snapshot(reader, "feed_faults"), "feed_pkey"),
    "kept_text_faults": (lambda reader: in_snapshot(reader, "kept_text_faults"), "kept_texts_pkey"),
    "sealed_tokens": (lambda reader: in_snapshot(reader, "sealed_tokens"), "tokens_pkey"),
}
# The versions of one document are found among those of all users without reading many.
VERSIONS: dict[str, tuple[Callable[[ExplainingPool], object], str]] = {
    "kept": (lambda pool: kept_before(pool, 300), "kept_texts_pkey"),
    "changes": (
        lambda pool: in_snapshot(
            EventReader(pool), "changes", "versions", path=PATH, above=1, version=3, after=1, limit=2
        ),
        "events_user_id_stream_sequence_key",
    ),
    "numbered": (
        lambda pool: VersionReader(pool).numbered(USER, PATH, 3),
        "events_user_id_stream_sequence_key",
    ),
    "newest": (lambda pool: VersionReader(pool).newest(USER, PATH, at=NOON), "events_of_path"),
    "arrival": (lambda pool: VersionReader(pool).arrival(USER, PATH), "events_of_arrivals"),
    "next_arrival": (
        lambda pool: VersionReader(pool).next_arrival(USER, PATH, CURSOR),
        "events_of_arrivals",
    ),
    "origins": (
        lambda pool: in_snapshot(EventReader(pool), "origins", "versions", path=PATH),
        "events_of_arrivals",
    ),
    "ending": (lambda pool: VersionReader(pool).ending(USER, [PATH], "abcdef"), "events_of_path"),
    "named": (lambda pool: VersionReader(pool).named(USER, [CURSOR]), "events_pkey"),
    "log": (lambda pool: VersionReader(pool).log(USER, Query(limit=20), path=PATH), "events_of_path"),
}
FOUND = {
    "newest": (Query(), "events_pkey"),
    "newest_of_path": (Query(path=PATH), "events_of_path"),
}
# The log is over all users, and reads of each what is new, or the leaves of a range.
LOGGING: dict[str, tuple[Callable[[LogLeaves], object], str]] = {
    "newest_checkpoint": (lambda log: log.newest_checkpoint(), "log_checkpoints_pkey"),
    "number": (lambda log: log.number(EVENTS, EVENTS) == 0, "log_leaves_pkey"),
    "leaves": (lambda log: log.leaves(7000, 7100), "log_leaves_in_order"),
    "leaves_of": (lambda log: next(log.leaves_of(USER)), "log_leaves_pkey"),
    "leaf_of": (lambda log: log.leaf_of(USER, CURSOR) is None, "feed_user_id_stream_sequence_key"),
    "covered": (lambda log: log.covered(USER, 7000), "feed_pkey"),
    "logged_events": (lambda log: log.entries(7000, 7100), "log_leaves_in_order"),
    "logged_annotations": (lambda log: log.entries(7000, 7100), "log_leaves_in_order"),
}


def as_events(query: Query) -> Ask:
    return lambda reader: reader.query(USER, query)


def as_views(query: Query) -> Ask:
    return lambda reader: reader.views(USER, query)


def as_facets(query: Query) -> Ask:
    return lambda reader: reader.facets(USER, query, "UTC")


def batch_after(name: str) -> Ask:
    return lambda reader: in_snapshot(reader, name, after=CURSOR, limit=200)


READING |= {name: (as_events(query), index) for name, (query, index) in FOUND.items()}
READING |= {f"{name}_as_views": (as_views(query), index) for name, (query, index) in FOUND.items()}
READING |= {f"{name}_as_facets": (as_facets(query), index) for name, (query, index) in FOUND.items()}
# It counts thousands of the user's events, which any index of theirs finds as well.
READING["newest_as_facets"] = (as_facets(FOUND["newest"][0]), "events_")
READING |= {name: (batch_after(name), "events_pkey") for name in ("oldest_after", "oldest_after_as_views")}
IN_THE_ORDER_OF_THE_INDEX = {
    *FOUND,
    *(f"{name}_as_views" for name in FOUND),
    "versions",
    "chain",
    "oldest_after",
}

# A condition that no index knows is tried on each event of the user.
ANY_OF_THE_USER: set[str] = set()
FILTERED = {
    "path": (Query(path=PATH, op="append"), {"events_of_path"}),
    "section": (Query(section=("section_3",)), ANY_OF_THE_USER),
    "section of a document": (Query(path=PATH, section=("section_3",)), {"events_of_path"}),
    "event": (Query(event_id=str(CURSOR)), {"events_pkey"}),
    "end of an id": (Query(event_id="abcdef"), ANY_OF_THE_USER),
    "tool": (Query(tool="fs.append"), {"events_pkey"}),
    "evidence": (Query(evidence_ref="ev:s1-m1"), {"events_pkey"}),
    "several states": (Query(status=("failed", "pending")), ANY_OF_THE_USER),
    "type": (Query(type="type_3"), {"events_of_type"}),
    "failed": (Query(status="failed"), {"events_failed"}),
    "pending": (Query(status="pending"), {"events_pkey"}),
    "tool call": (Query(tool_call_id="call-7"), {"events_of_tool_call"}),
    "transaction": (Query(transaction_id="transaction-1"), {"events_of_transaction"}),
    "agent action": (Query(agent_action_id="action-2"), {"events_of_action"}),
    "since": (Query(since=NOON), {"events_pkey"}),
    "until": (Query(until=NOON), {"events_pkey"}),
    "words": (Query(text="because of"), {"events_pkey"}),
    "next page": (Query(actor="agent", cursor=str(CURSOR)), {"events_pkey"}),
}

SWEEPING: dict[str, tuple[Callable[[Pool], object], str]] = {
    "users": (lambda pool: Maintenance(pool).users(), "events_"),
    "claim": (
        lambda pool: Attempts(pool, lambda: LATER).claim(timedelta(0), limit=10),
        "documents_with_open_event",
    ),
    "counts": (lambda pool: Attempts(pool).counts(), "documents_with_open_event"),
    "forget_outdated": (lambda pool: Attempts(pool).forget_outdated() == 0, "documents"),
    "troubles": (lambda pool: Attempts(pool).troubles() == [], "documents"),
    "forget_expired": (
        lambda pool: Maintenance(pool).forget_expired_requests(limit=10),
        "idempotency_records_by_expiry",
    ),
    "garden_facts": (lambda pool: Maintenance(pool).facts_of(USER, NOON), "feed_pkey"),
    "home_facts": (lambda pool: Maintenance(pool).facts(), "documents_with_open_event"),
    "forget_old_calls": (lambda pool: Maintenance(pool).forget_old_calls(), "call_counts_by_day"),
}

SPEAKING_OF = {
    "events_of_tool_call": Caller(USER, "agent", tool_call_id="call-7"),
    "events_of_transaction": Caller(USER, "agent", transaction_id="transaction-1"),
    "events_of_action": Caller(USER, "agent", agent_action_id="action-2"),
}

KEYS = Keyring({1: b"k" * 32})
# Listing all tokens, and finding any live one, reads the whole table; services do that when they start.
ASKING_FOR_TOKENS: dict[str, tuple[Callable[[TokenStore], object], str]] = {
    "find": (lambda tokens: tokens.find(USER, "000000000007"), "tokens_pkey"),
    "of_user": (lambda tokens: tokens.of_user(USER), "tokens_pkey"),
    "ended": (lambda tokens: tokens.ended([(USER, "000000000007")], NOON) == set(), "tokens_pkey"),
    "revoke": (lambda tokens: tokens.revoke(USER, "000000000007", NOON), "tokens_pkey"),
}

CALL: dict[str, Any] = {
    "actor": "agent",
    "approval_id": CURSOR,
    "call_mark": b"m" * 32,
    "effect_mark": b"m" * 32,
}
ANSWER: dict[str, Any] = {"state": "denied", "by": "grace", "reason": None, "event_id": None}
ANSWERING: dict[str, tuple[Callable[[ApprovalStore], object], str]] = {
    "read": (lambda store: store.read(USER, call_mark=b"m" * 32), "approvals_pkey"),
    "end_outdated": (lambda store: store.change(USER, "end_outdated", **CALL), "approvals_"),
    "take": (lambda store: store.take(USER, {CURSOR: b"m" * 32}), "approvals_"),
    "decide": (lambda store: store.change(USER, "decide", **CALL, **ANSWER), "approvals_"),
    "reopen": (lambda store: store.change(USER, "reopen", **CALL, **ANSWER, seconds=30), "approvals_"),
    "close_edit": (lambda store: store.change(USER, "close_edit", **CALL, **ANSWER), "approvals_"),
}
# Each statement about passages and an index that it uses.
KEEPING_PASSAGES: dict[str, tuple[Callable[[ExplainingPool], object], str]] = {
    "live_rows": (lambda pool: PassageStore(pool).live_rows(USER, PATH), "recall_passages_of_path"),
    "unindexed": (lambda pool: PassageStore(pool).unindexed(USER, 1), "documents_pkey"),
    "remove_others": (lambda pool: replace(pool), "recall_passages_of_path"),
    "put_rows": (lambda pool: replace(pool), ""),
    "put_document": (lambda pool: replace(pool), ""),
    "forget_earlier": (lambda pool: forget(pool), "recall_passages_of_path"),
    "renew_document": (lambda pool: forget(pool), "recall_documents_pkey"),
    "forget_given": (lambda pool: forget(pool), "recall_given_"),
    "look": (lambda pool: RecallReader(pool).look(USER, "9999999", None), "recall_passages_changed"),
    "passages": (lambda pool: RecallReader(pool).passages(USER, [1, 2], None), "recall_passages_"),
    "numbers_with": (
        lambda pool: RecallReader(pool).numbers_with(USER, ["calm"], [], None, None),
        "recall_passages_with_tags",
    ),
    "put_vectors": (
        lambda pool: RecallReader(pool).put_vectors(USER, [], [], "model"),
        "recall_passages_",
    ),
    "forget_old_given": (
        lambda pool: PassageStore(pool).forget_old_given(USER),
        "recall_given_by_time",
    ),
    "forget_user": (lambda pool: PassageStore(pool).forget_user(USER), "recall_usage_pkey"),
}

# The account of calls has one index, in the order of time; each statement reads what its period needs.
ACCOUNTING: dict[str, tuple[Callable[[ExplainingPool], object], int]] = {
    "stats": (lambda pool: CallLog(pool, 1, lambda: EVENING).stats(USER, HOUR), 6 * 60),
    "figures": (lambda pool: CallLog(pool, 1, lambda: EVENING).figures(USER, HOUR), 6 * 60),
    "actors": (lambda pool: CallLog(pool, 1, lambda: EVENING).actors(USER, HOUR), 60),
    "users": (lambda pool: list(CallLog(pool, 1, lambda: EVENING).forget_expired()), 5 * USERS),
    "forget_before": (lambda pool: list(CallLog(pool, 1, lambda: EVENING).forget_expired()), 60),
    "blank_before": (lambda pool: blank_calls(pool, USER, NOON), 3 * EVENTS // USERS + 1),
}

LISTING: dict[str, dict[str, object]] = {
    "all": {},
    "as of a time": {"as_of": NOON},
    "documents": {"kinds": ["/notes.md$"], "sections": ["facts"], "paths": [PATH]},
    "tags": {"tags": ["calm"]},
    "days": {"since": NOON.date(), "until": NOON.date()},
    "summaries": {"summary_types": ["weekly"], "period_key_prefix": "2026"},
    "name": {"name": "name", "gone": True},
}


@pytest.fixture(scope="module")
def long_account(server: TestServer) -> Iterator[str]:
    with server.database(server.template()) as url:
        with connection(url) as opened:
            fill(opened, events=EVENTS, users=USERS, documents=DOCUMENTS_OF_A_USER, logged=True)
        yield url


@pytest.fixture
def pool(long_account: str) -> Iterator[ExplainingPool]:
    with explaining_pool(long_account) as made:
        yield made


@pytest.mark.parametrize("name", READING)
def test_a_readers_query_uses_its_index_in_custom_and_generic_plans(pool: ExplainingPool, name: str) -> None:
    ask, index = READING[name]
    ask(EventReader(pool))
    assert set(pool.plans[name]) == {"custom", "generic"}
    for plan in pool.plans[name].values():
        assert any(each.startswith(index) for each in plan.indexes)
        # Nothing is erased here, so reading that table is quickest.
        assert plan.scanned_tables <= {"erased_rows"}
        assert not (plan.sorts and name in IN_THE_ORDER_OF_THE_INDEX)


@pytest.mark.parametrize("name", VERSIONS)
def test_a_version_is_found_by_an_index_of_its_document(pool: ExplainingPool, name: str) -> None:
    ask, index = VERSIONS[name]
    ask(pool)
    for plan in pool.plans[name].values():
        assert index in plan.indexes
        assert plan.scanned_tables <= {"erased_rows"}
        assert plan.rows_read < 100


@pytest.mark.parametrize("wanted", FILTERED)
def test_each_filter_uses_its_index(pool: ExplainingPool, wanted: str) -> None:
    query, indexes = FILTERED[wanted]
    EventReader(pool).query(USER, query)
    EventReader(pool).views(USER, query)
    EventReader(pool).facets(USER, query, "UTC")
    for name in ("filtered", "filtered_as_views", "filtered_as_facets"):
        [plan] = pool.plans[name].values()
        used = {index for index in plan.indexes if index.startswith("events_")}
        may_be_any = indexes == ANY_OF_THE_USER or name == "filtered_as_facets"
        assert used == indexes or (may_be_any and len(used) == 1)
        assert plan.scanned_tables == frozenset()


@pytest.mark.parametrize("name", SWEEPING)
def test_a_sweep_over_all_users_uses_its_index(pool: ExplainingPool, name: str) -> None:
    sweep, index = SWEEPING[name]
    assert sweep(pool)
    [plan] = pool.plans[name].values()
    assert any(used.startswith(index) for used in plan.indexes)
    # There are never more attempts than open sagas, and none here, so reading that table is quickest.
    assert plan.scanned_tables <= {"recoveries"}
    assert plan.rows_read < EVENTS / 10


@pytest.mark.parametrize("name", LOGGING)
def test_the_log_reads_only_what_it_needs_of_each_user(pool: ExplainingPool, name: str) -> None:
    ask, index = LOGGING[name]
    with LogLeaves(pool).transaction() as log:
        assert ask(log)
    for plan in pool.plans[name].values():
        assert index in plan.indexes
        assert plan.scanned_tables == frozenset()
        assert plan.rows_read < EVENTS / 5


@pytest.mark.parametrize("index", SPEAKING_OF)
def test_an_annotated_write_is_found_by_the_index_of_any_id(pool: ExplainingPool, index: str) -> None:
    assert EventReader(pool).find_write(USER, WriteClaim(), by=SPEAKING_OF[index])
    assert [plan.indexes for plan in pool.plans["named_by_caller"].values()] == [{index}]
    assert [plan.indexes for plan in pool.plans["claimed_write"].values()] == [{"events_pkey"}]


def test_a_write_is_found_by_its_hashes_among_those_of_its_document(pool: ExplainingPool) -> None:
    assert EventReader(pool).find_write(USER, WriteClaim(path=PATH, after_hash="sha256:" + "0" * 64)) is None
    assert [plan.indexes for plan in pool.plans["claimed_write"].values()] == [{"events_of_path"}]


@pytest.mark.parametrize("name", ASKING_FOR_TOKENS)
def test_a_token_is_found_by_its_index(pool: ExplainingPool, name: str) -> None:
    ask, index = ASKING_FOR_TOKENS[name]
    ask(TokenStore(pool, lambda: KEYS))
    for plan in pool.plans[name].values():
        assert plan.indexes == {index}
        assert plan.scanned_tables == frozenset()


@pytest.mark.parametrize("name", ANSWERING)
def test_an_approval_is_found_by_its_index(pool: ExplainingPool, name: str) -> None:
    answer, index = ANSWERING[name]
    answer(ApprovalStore(pool))
    for plan in pool.plans[name].values():
        assert any(used.startswith(index) for used in plan.indexes)
        assert plan.scanned_tables == frozenset()


def test_words_of_expired_approvals_are_found_by_an_index(pool: ExplainingPool) -> None:
    Maintenance(pool).forget_approvals()
    for name, index in (("forget_words", "approvals_with"), ("forget_denied", "approvals_denied_with")):
        [plan] = pool.plans[name].values()
        assert f"{index}_words" in plan.indexes


@pytest.mark.parametrize("name", KEEPING_PASSAGES)
def test_a_statement_about_passages_reads_no_whole_table(pool: ExplainingPool, name: str) -> None:
    keep, index = KEEPING_PASSAGES[name]
    keep(pool)
    for plan in pool.plans[name].values():
        # Of two indexes by number either may be chosen.
        assert any(used.startswith(index) for used in plan.indexes | {""})
        assert plan.scanned_tables == frozenset()


@pytest.mark.parametrize("name", ACCOUNTING)
def test_the_account_of_calls_is_read_by_its_key(pool: ExplainingPool, name: str) -> None:
    ask, rows_max = ACCOUNTING[name]
    ask(pool)
    for plan in pool.plans[name].values():
        assert plan.indexes == {"tool_calls_pkey"}
        assert plan.scanned_tables == frozenset()
        assert plan.rows_read <= rows_max


def test_a_feed_is_read_from_a_position_in_the_order_of_its_index(pool: ExplainingPool) -> None:
    feed = FeedReader(pool)
    feed.since(USER, feed.since(USER, None, 500).position, 10)
    feed.now(USER)
    for name, others in (("since", {"events_pkey"}), ("newest", set[str]())):
        for plan in pool.plans[name].values():
            assert plan.indexes == {"feed_pkey"} | others
            assert plan.scanned_tables == frozenset()
            assert not plan.sorts
            assert plan.rows_read < 50


@pytest.mark.parametrize("wanted", LISTING)
def test_memories_are_listed_by_an_index(pool: ExplainingPool, wanted: str) -> None:
    RecallReader(pool).newest(USER, 10, None, **LISTING[wanted])
    [plan] = pool.plans["memories"].values()
    assert any(index.startswith("recall_passages_") for index in plan.indexes)
    assert plan.scanned_tables == frozenset()
    if wanted in ("all", "as of a time"):
        assert "recall_passages_of_event" in plan.indexes
        assert not plan.sorts
        assert plan.rows_read < 500


def test_days_with_entries_are_counted_by_an_index(pool: ExplainingPool) -> None:
    days, summaries = RecallReader(pool).entries(USER)
    assert days
    assert not summaries
    [plan] = pool.plans["days_with_entries"].values()
    assert plan.scanned_tables == frozenset()


@pytest.mark.own_database
def test_the_newest_passages_are_read_in_the_order_of_their_index(database: str) -> None:
    with connection(database) as opened:
        opened.execute(
            b"""insert into garden.recall_passages (user_id, passage, since, path, anchor, name, heading,
                    language, event_id, day, summary_type, period_key, text, words)
                select 'user-' || n % 4, n, now(), format('users/user-%s/notes.md', n % 4),
                       case when n % 500 = 0 then 'summaries v1' else 'inbox v1' end, n,
                       'Inbox', 'en', gen_random_uuid(), date '2026-01-01' + n % 300,
                       case when n % 500 = 0 then 'weekly' end, case when n % 500 = 0 then n end, n, ''
                from generate_series(1, 20000) as n"""
        )
        vacuum(opened)
    with explaining_pool(database) as pool:
        assert len(RecallReader(pool).recent("user-0", 100)) == 101
    for plan in pool.plans["recent"].values():
        assert {"recall_passages_by_day", "recall_passages_of_summaries"} <= plan.indexes
        assert plan.scanned_tables == frozenset()
        assert plan.rows_read < 1000


def test_no_query_is_left_out() -> None:
    assert {
        *READING,
        "filtered",
        "filtered_as_views",
        "filtered_as_facets",
        "named_by_caller",
        "claimed_write",
    } == set(statements("queries")) - {
        "freeze",
        "check",
        "is_erased",
        "carried_out_with_key",
        "erasures",
        "erased_rows",
        "whole_erased_words",
        "notes_of_path",
        # Made with the others and never asked for.
        "oldest_after_as_facets",
        # They list everything.
        "names_used",
        "recalled_paths",
        # In the tests of the backlog.
        "recall_counts",
    }
    # These list what a user has.
    assert {*VERSIONS, "garden_at", "sections", "documents"} == set(statements("versions"))
    assert {*LOGGING, "add_checkpoint"} == set(statements("log"))
    of_attempts = {"forget", "note_errors", "postpone", "uncount", "release"}
    sweeping = {*statements("maintenance"), *statements("recoveries")}
    assert set(SWEEPING) == sweeping - of_attempts
    assert {*ASKING_FOR_TOKENS, "add", "all", "live"} == set(statements("tokens"))
    assert {*KEEPING_PASSAGES, "memories", "recent", "days_with_entries"} == {
        *statements("passages"),
        *statements("recall"),
    }
    assert {"since", "newest", "flush", "listen"} == set(statements("feed"))
    assert {*ACCOUNTING, "put"} == set(statements("calls"))


def in_snapshot(reader: EventReader, name: str, file: str = "queries", **values: object) -> object:
    with reader.snapshot(USER) as snapshot:
        if name in ("stored_requests", "sealed_tokens"):
            snapshot.act_as_service()
        return snapshot.fetch(name, values, file)


def kept_before(pool: ExplainingPool, version: int) -> object:
    return in_snapshot(EventReader(pool), "kept", "versions", path=PATH, version=version)


def replace(pool: ExplainingPool) -> None:
    rows: list[StandingPassage] = PassageStore(pool).live_rows(USER, PATH)
    PassageStore(pool).replace_document(USER, PATH, rows[1:], 1, 1)


def forget(pool: ExplainingPool) -> None:
    with pool.connection() as opened:
        opened.execute(statements("identities")["maintainer_for_user"], {"user_id": USER})
        forget_earlier(opened, USER, PATH)
