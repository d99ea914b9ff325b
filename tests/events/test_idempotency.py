import os
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from garden.events.database import connection
from garden.events.idempotency import (
    EarlierRequest,
    IdempotencyConflictError,
    InProgressError,
    InvalidKeyError,
    RequestIdentity,
    identify_request,
)
from garden.events.keyring import Keyring
from garden.events.reader import Query
from garden.events.records import Caller, Event
from garden.events.store import EventStore
from garden.events.stored_requests import StoredAnswerChangedError
from tests.support.accounts import ADA, BEN, NOTES, Account, account_on, asking, fresh_text

CALLERS = 32
KEYS = int(os.environ.get("GARDEN_TEST_KEYS", "60"))


def count_events(url: str) -> int:
    with connection(url) as opened:
        row = opened.execute("select count(*) from garden.events").fetchone()
        assert row is not None
        return int(row[0])


def test_a_resent_request_gets_the_stored_answer_and_no_second_effect(account: Account) -> None:
    first = account.edit("one\n", asked=asking("k"))
    with account.store.document(ADA, NOTES, asking("k")) as stream:
        assert stream.earlier is not None
        assert stream.earlier.event_id == first.event_id
        assert stream.earlier.response == {"eventId": str(first.event_id)}


@pytest.mark.parametrize(
    "forgery",
    [
        """response = '{"eventId": "another"}'""",
        "expires_at = expires_at + interval '1 year'",
        "event_id = gen_random_uuid()",
        "answer_seal = sha256('forged')",
    ],
)
def test_a_forged_answer_is_refused_and_named(account: Account, database: str, forgery: str) -> None:
    account.edit("one\n", asked=asking("k"))
    with connection(database) as owner:
        owner.execute(f"update garden.idempotency_records set {forgery}".encode())
    with (
        pytest.raises(StoredAnswerChangedError, match="not as it was recorded"),
        account.store.document(ADA, NOTES, asking("k")),
    ):
        pass
    assert account.faults()[0].startswith("stored requests:None: ")


def test_another_request_with_the_same_key_is_a_conflict(account: Account) -> None:
    account.edit("one\n", asked=asking("k"))
    with (
        pytest.raises(IdempotencyConflictError) as refusal,
        account.store.document(ADA, NOTES, asking("k", {"n": 2})),
    ):
        pass
    assert refusal.value.code == "idempotency_conflict"
    assert "new key" in refusal.value.hint


def test_two_users_may_use_the_same_key(account: Account) -> None:
    assert not account.log("hm", asked=asking("k")).replayed
    assert not account.log("hm", caller=BEN, asked=asking("k", user_id="ben")).replayed


def identified(caller: Caller = ADA, **other: Any) -> RequestIdentity:
    fields = {"tool": "fs.append", "entity": NOTES, "payload": {"a": 1, "b": [2]}} | other
    return identify_request(caller, **fields)


@pytest.mark.parametrize("tool_call", [None, "call-1"])
def test_without_a_key_the_caller_and_the_words_are_the_key(tool_call: str | None) -> None:
    caller = replace(ADA, tool_call_id=tool_call)
    assert identified(caller) == identified(caller, payload={"b": [2], "a": 1.0})
    callers: list[dict[str, Any]] = [
        {"user_id": "ben"},
        {"actor": "other"},
        {"transaction_id": "t"},
        {"tool_call_id": "call-2"},
    ]
    words: list[dict[str, Any]] = [{"tool": "x"}, {"entity": "x"}, {"payload": {}}]
    others = [identified(replace(caller, **other)) for other in callers]
    others += [identified(caller, **other) for other in words]
    assert len({identified(caller).key, *(other.key for other in others)}) == 8


def test_only_words_alone_are_forgotten_early() -> None:
    by_words = identified(replace(ADA, tool_call_id=None), resend_seconds=7)
    assert (by_words.lifetime, by_words.only_while_newest) == (timedelta(seconds=7), True)
    for known in (identified(ADA), identified(ADA, key="mine")):
        assert (known.lifetime, known.only_while_newest) == (timedelta(hours=48), False)


@pytest.mark.parametrize("about", [None, NOTES], ids=["an event", "an annotation"])
def test_a_statement_without_a_key_is_sent_again_only_while_it_is_the_newest_entry(
    account: Account, about: str | None
) -> None:
    account.edit("one\n")
    asked = asking()
    first = account.log("one", asked=asked, path=about)
    again = account.log("one", asked=asked, path=about)
    assert (again.event_id, again.replayed) == (first.event_id, True)
    account.log("another", path=about)
    assert not account.log("one", asked=asked, path=about).replayed
    assert account.log("one", asked=asked, path=about).replayed
    assert account.faults() == []


def test_an_earlier_request_that_is_not_repeated_can_be_forgotten(account: Account) -> None:
    first = account.edit("one\n", asked=asking())
    with account.store.document(ADA, NOTES, asking()) as stream:
        stream.forget_earlier()
        assert stream.earlier is None
        again = account.begin(stream, "two\n")
        stream.finish(again, {"n": 2})
    with account.store.document(ADA, NOTES, asking()) as stream:
        assert stream.earlier == EarlierRequest(again.event_id, {"n": 2})
    assert first.event_id != again.event_id


def test_a_callers_key_can_not_imitate_a_computed_one() -> None:
    computed = asking()
    assert asking(computed.key).key != computed.key


@pytest.mark.parametrize("key", ["", "x" * 513, "a\nb", "a\x00b"])
def test_a_malformed_key_is_refused(key: str) -> None:
    with pytest.raises(InvalidKeyError):
        asking(key)


def test_after_a_failure_the_key_is_free_again(account: Account) -> None:
    with account.store.document(ADA, NOTES, asking("k")) as stream:
        stream.fail(account.begin(stream, "one\n"), {"code": "no_space"})
    assert account.edit("one\n", asked=asking("k")).document_version == 1


def test_an_expired_key_is_free_again(database: str) -> None:
    clock = [datetime(2026, 11, 18, 8, 25, tzinfo=UTC)]
    with account_on(database) as account:
        account.store = EventStore(account.pool, lambda: account.keyring, lambda: clock[0])
        first = account.log("hm", asked=asking("k"))
        clock[0] += timedelta(hours=47, minutes=59)
        assert account.log("hm", asked=asking("k")).event_id == first.event_id
        clock[0] += timedelta(minutes=2)
        assert account.log("hm", asked=asking("k")).event_id != first.event_id
        assert account.log("hm", asked=asking("k")).replayed


def test_expired_requests_are_deleted_in_bounded_batches(database: str) -> None:
    with account_on(database) as account:
        account.store = EventStore(
            account.pool, lambda: account.keyring, lambda: datetime(2020, 1, 1, tzinfo=UTC)
        )
        for number in range(5):
            account.log("old", asked=asking(f"old-{number}"))
        account.store = EventStore(account.pool, lambda: account.keyring)
        fresh = account.log("new", asked=asking("new"))
        assert [account.maintenance.forget_expired_requests(limit=3) for _ in range(3)] == [3, 2, 0]
        assert account.log("new", asked=asking("new")).event_id == fresh.event_id


def test_a_request_of_a_dead_writer_is_in_progress_until_it_is_settled(account: Account) -> None:
    with account.store.document(ADA, NOTES, asking("k")) as stream:
        pending = account.begin(stream, "one\n")
    with account.store.document(ADA, NOTES, asking("k")) as stream:
        assert stream.earlier is not None
        assert stream.earlier.response is None
        stream.finish(pending, {"late": True})
    with account.store.document(ADA, NOTES, asking("k")) as stream:
        assert stream.earlier is not None
        assert stream.earlier.response == {"late": True}


def test_one_key_used_for_two_documents_at_once_has_one_effect(account: Account) -> None:
    asked = asking("k")
    with (
        account.store.document(ADA, NOTES, asked) as one,
        account.store.document(ADA, "users/ada/overview.md", asked) as two,
    ):
        account.begin(one, "one\n")
        with pytest.raises(InProgressError):
            account.begin(two, "two\n")


def test_many_callers_with_one_key_have_exactly_one_event(database: str) -> None:
    """Every other key changes a document; the others log a statement."""
    with account_on(database, size_max=8) as account:
        asked = [key for key in range(KEYS) for _ in range(CALLERS)]
        with ThreadPoolExecutor(CALLERS) as pool:
            outcomes = Counter(pool.map(lambda key: outcome(account, key=key, says=key % 2 == 0), asked))
        assert set(outcomes) <= {"new", "replayed", "in_progress"}
        assert outcomes["new"] == KEYS
        assert count_events(database) == KEYS
        assert account.faults() == []


def outcome(account: Account, *, key: int, says: bool) -> str:
    asked = asking(f"key-{key}", {"n": key})
    try:
        if says:
            return "replayed" if account.log("hm", asked=asked).replayed else "new"
        with account.store.document(ADA, NOTES, asked) as stream:
            if stream.earlier is not None:
                return "replayed" if stream.earlier.response else "in_progress"
            event = account.begin(stream, fresh := fresh_text())
            account.texts[NOTES] = fresh
            stream.finish(event, {"eventId": str(event.event_id)})
            return "new"
    except InProgressError:
        return "in_progress"


_WRITE_UNTIL_KILLED = """
import sys
from garden.events.keyring import Keyring
from tests.support.accounts import account_on
from tests.events.test_idempotency import outcome
with account_on(sys.argv[1], keyring=Keyring.parse(sys.argv[2])) as account:
    for key in range(int(sys.argv[3])):
        print(key, outcome(account, key=key * 2, says=True), flush=True)
"""


def test_each_key_has_one_event_after_half_of_the_callers_were_killed(database: str) -> None:
    keyring, keys = Keyring.generate(), 40
    arguments = [sys.executable, "-c", _WRITE_UNTIL_KILLED, database, keyring.render().strip(), str(keys)]
    writers = [subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    for lines, writer in enumerate(writers[:2], start=1):
        assert writer.stdout is not None
        for _ in range(lines * 5):
            writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
    said = [writer.communicate(timeout=120)[0].split() for writer in writers]
    with account_on(database, keyring=keyring) as account:
        acknowledged = [word for words in said for word in words]
        assert "in_progress" not in acknowledged
        assert {outcome(account, key=key * 2, says=True) for key in range(keys)} == {"replayed"}
        assert account.faults() == []
    assert count_events(database) == keys


def test_a_statement_that_names_a_write_is_an_annotation(account: Account) -> None:
    write = account.edit("one\n")
    logged = account.log("because she said so", path=NOTES, about=write.event_id)
    assert logged.is_annotation
    assert logged.event_id == write.event_id
    (annotation,) = annotations_of(account, write)
    assert annotation["rationale"] == "because she said so"
    assert account.log("another document", path="users/ada/overview.md").is_annotation is False
    assert account.log("no path").is_annotation is False
    assert account.faults() == []


def test_an_annotation_is_as_idempotent_as_an_event(account: Account) -> None:
    write = account.edit("one\n")
    for replayed in (False, True):
        logged = account.log("why", path=NOTES, asked=asking("k"), about=write.event_id)
        assert (logged.event_id, logged.is_annotation, logged.replayed) == (write.event_id, True, replayed)
    assert len(annotations_of(account, write)) == 1


def annotations_of(account: Account, write: Event) -> list[dict[str, Any]]:
    [view] = account.reader.views("ada", Query(event_id=str(write.event_id))).events
    return list(view["annotations"])


def until_free(account: Account) -> int | None:
    while True:
        with suppress(InProgressError):
            return account.edit("one\n").document_version


def test_the_lock_of_a_killed_holder_is_released(database: str) -> None:
    program = """
import sys
from tests.support.accounts import ADA, NOTES, account_on
with account_on(sys.argv[1]) as account, account.store.document(ADA, NOTES):
    print("held", flush=True)
    sys.stdin.read()
"""
    holder = subprocess.Popen(
        [sys.executable, "-c", program, database], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with account_on(database, lock_seconds=0.5) as account:
        holder.send_signal(signal.SIGSTOP)
        with pytest.raises(
            InProgressError, match=f"process {holder.pid} on this machine holds it"
        ) as refusal:
            account.edit("one\n")
        assert f"silent since {datetime.now(UTC):%Y-%m-%d}" in refusal.value.message
        holder.kill()
        holder.communicate()
        assert until_free(account) == 1
