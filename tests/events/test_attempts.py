"""Attempts to settle sagas are counted before the work, bounded, and reported."""

from datetime import UTC, datetime, timedelta

import pytest

from garden.events.attempts import Attempt, Attempts
from tests.events.test_verifier import tamper
from tests.support.accounts import ADA, BEN, NOTES, Account, fresh_text

NOW = timedelta(0)
ERROR = {"code": "not_text", "message": "A document is text in UTF-8."}
TROUBLE = {"code": "unavailable", "message": "The file system refused: No space left on device."}


@pytest.fixture
def recoveries(account: Account) -> Attempts:
    return Attempts(account.pool)


def leave_open(account: Account, path: str = NOTES) -> str:
    with account.store.document(BEN if "/ben/" in path else ADA, path) as stream:
        return str(account.begin(stream, fresh_text()).event_id)


def end(account: Account, attempt: Attempt) -> None:
    with account.store.document(ADA, attempt.path) as stream:
        pending = account.reader.event(attempt.user_id, attempt.event_id)
        assert pending is not None
        stream.fail(pending, ERROR)


def again(recoveries: Attempts, attempts_max: int = 10) -> Attempt:
    """Claim again without a pause."""
    [attempt] = recoveries.claim(NOW, limit=10, attempts_max=attempts_max, pause_seconds=0)
    return attempt


def claimed(recoveries: Attempts, older_than: timedelta = NOW, user_id: str | None = None) -> list[str]:
    return [str(each.event_id) for each in recoveries.claim(older_than, limit=10, user_id=user_id)]


def test_a_stalled_saga_is_claimed_and_counted(account: Account, recoveries: Attempts) -> None:
    event_id = leave_open(account)
    assert claimed(recoveries, timedelta(minutes=1)) == []
    [attempt] = recoveries.claim(NOW, limit=10)
    assert (attempt.user_id, attempt.path, str(attempt.event_id)) == ("ada", NOTES, event_id)
    assert (attempt.attempts, attempt.quarantined, attempt.error) == (1, False, None)


def test_an_attempt_that_never_returns_is_counted(account: Account, recoveries: Attempts) -> None:
    leave_open(account)
    assert [again(recoveries).attempts for _ in range(3)] == [1, 2, 3]


def test_two_workers_never_claim_the_same_saga(account: Account, recoveries: Attempts) -> None:
    leave_open(account)
    assert len(claimed(recoveries)) == 1
    assert claimed(recoveries) == []


def test_the_oldest_sagas_come_first_up_to_the_limit(account: Account, recoveries: Attempts) -> None:
    waiting = [leave_open(account, f"users/ada/parts/p{number}/notes.md") for number in range(4)]
    found = [[str(each.event_id) for each in recoveries.claim(NOW, limit=3)] for _ in range(2)]
    assert found == [waiting[:3], waiting[3:]]


def test_one_users_sagas_can_be_claimed(account: Account, recoveries: Attempts) -> None:
    leave_open(account)
    theirs = leave_open(account, "users/ben/notes.md")
    assert claimed(recoveries, user_id="ben") == [theirs]


def test_a_saga_dated_in_the_future_is_due(account: Account, recoveries: Attempts) -> None:
    account.store._now = lambda: datetime.now(UTC) + timedelta(days=1)
    event_id = leave_open(account)
    assert claimed(recoveries, timedelta(minutes=1)) == [event_id]


def test_after_too_many_attempts_a_saga_is_quarantined_and_claimed_once_more(
    account: Account, recoveries: Attempts
) -> None:
    event_id = leave_open(account)
    for _ in range(2):
        attempt = again(recoveries, attempts_max=2)
        assert not attempt.quarantined
        recoveries.note_errors([(attempt, ERROR)])
    given_up = again(recoveries, attempts_max=2)
    assert (given_up.quarantined, given_up.error) == (True, ERROR)
    assert recoveries.claim(NOW, limit=10, attempts_max=2, pause_seconds=0) == []
    [told] = recoveries.troubles("ada")
    assert (told.path, str(told.event_id), told.error) == (NOTES, event_id, ERROR)
    assert recoveries.troubles("ben") == []
    assert recoveries.counts() == (1, 1)
    recoveries.release("ben")
    assert recoveries.counts() == (1, 1)
    recoveries.release()
    assert recoveries.counts() == (1, 0)
    assert recoveries.claim(NOW, limit=10, attempts_max=2)[0].attempts == 1


def test_attempts_at_settled_sagas_are_deleted(account: Account, recoveries: Attempts) -> None:
    leave_open(account)
    [attempt] = recoveries.claim(NOW, limit=10)
    recoveries.forget([attempt])
    assert recoveries.claim(NOW, limit=10)[0].attempts == 1


def test_a_document_held_by_a_live_process_is_no_attempt(account: Account, recoveries: Attempts) -> None:
    leave_open(account)
    for _ in range(3):
        attempt = again(recoveries, attempts_max=1)
        assert (attempt.attempts, attempt.quarantined) == (1, False)
        recoveries.uncount([attempt])
        assert recoveries.claim(NOW, limit=10, attempts_max=1) == []


def wait(database: str, seconds: int) -> None:
    """Move the recorded attempts into the past."""
    tamper(
        database,
        f"update garden.recoveries set first_at = first_at - interval '{seconds} s',"
        f" last_at = last_at - interval '{seconds} s'",
    )


def test_trouble_of_the_disk_or_database_is_no_attempt(account: Account, recoveries: Attempts) -> None:
    event_id = leave_open(account)
    for _ in range(5):
        attempt = again(recoveries, attempts_max=1)
        assert (attempt.attempts, attempt.quarantined) == (1, False)
        recoveries.postpone([(attempt, TROUBLE)])
        [told] = recoveries.troubles("ada")
        assert (str(told.event_id), told.quarantined_at, told.error) == (event_id, None, TROUBLE)


def test_the_pause_grows_with_the_trouble_up_to_a_limit(
    account: Account, recoveries: Attempts, database: str
) -> None:
    leave_open(account)
    lasted_seconds = 0
    for _ in range(10):
        [attempt] = recoveries.claim(NOW, limit=10, pause_seconds=4)
        recoveries.postpone([(attempt, TROUBLE)])
        pause = min(max(lasted_seconds, 4), 240)
        wait(database, pause - 2)
        assert recoveries.claim(NOW, limit=10, pause_seconds=4) == []
        wait(database, 4)
        lasted_seconds += pause + 2
    assert lasted_seconds > 4 * 240
    # A claim without a pause gets the saga at once.
    recoveries.postpone([(again(recoveries), TROUBLE)])
    assert again(recoveries).error == TROUBLE


def test_postponed_sagas_come_in_batches_until_one_takes_its_worker_down(
    account: Account, recoveries: Attempts
) -> None:
    waiting = [leave_open(account, f"users/ada/parts/p{number}/notes.md") for number in range(4)]

    def found() -> list[Attempt]:
        return recoveries.claim(NOW, limit=10, pause_seconds=0)

    recoveries.postpone([(each, TROUBLE) for each in found()])
    claimed = found()
    assert [str(each.event_id) for each in claimed] == waiting
    # The worker died on one of the first two.
    recoveries.postpone([(each, TROUBLE) for each in claimed[2:]])
    assert [str(each.event_id) for each in found()] == waiting[2:]
    assert [str(each.event_id) for each in found()] == waiting[:1]


def test_attempts_are_deleted_once_a_later_write_has_settled_the_saga(
    account: Account, recoveries: Attempts
) -> None:
    with account.store.document(ADA, NOTES) as stream:
        pending = account.begin(stream, fresh_text())
        assert len(claimed(recoveries)) == 1
        assert recoveries.forget_outdated() == 0
        stream.finish(pending, {})
    assert recoveries.forget_outdated() == 1
    assert recoveries.counts() == (0, 0)


def test_a_saga_that_takes_its_worker_down_quarantines_no_other(
    account: Account, recoveries: Attempts
) -> None:
    waiting = [leave_open(account, f"users/ada/parts/p{number}/notes.md") for number in range(3)]
    # The first saga of the batch takes its worker down, in the batch and alone.
    assert claimed(recoveries) == waiting
    given_up = []
    for _ in range(20):
        for attempt in recoveries.claim(NOW, limit=10, attempts_max=4, pause_seconds=0):
            if attempt.quarantined:
                given_up.append(str(attempt.event_id))
            elif str(attempt.event_id) == waiting[0]:
                break
            else:
                end(account, attempt)
                recoveries.forget([attempt])
    assert given_up == waiting[:1]


def test_new_sagas_do_not_wait_for_tried_ones(account: Account, recoveries: Attempts) -> None:
    first = leave_open(account)
    assert claimed(recoveries) == [first]
    second = leave_open(account, "users/ada/parts/critic/notes.md")
    found = [recoveries.claim(NOW, limit=1, pause_seconds=0) for _ in range(2)]
    assert [str(attempt.event_id) for [attempt] in found] == [second, first]


def test_an_attempt_dated_in_the_future_does_not_block_the_next(
    account: Account, recoveries: Attempts, database: str
) -> None:
    event_id = leave_open(account)
    assert claimed(recoveries) == [event_id]
    tamper(database, "update garden.recoveries set first_at = now() + '1 day', last_at = now() + '1 day'")
    assert claimed(recoveries) == [event_id]


def test_a_quarantined_saga_settled_by_a_later_write_is_not_counted(
    account: Account, recoveries: Attempts
) -> None:
    with account.store.document(ADA, NOTES) as stream:
        pending = account.begin(stream, fresh_text())
        again(recoveries, attempts_max=1)
        assert again(recoveries, attempts_max=1).quarantined
        assert recoveries.counts() == (1, 1)
        stream.finish(pending, {})
    assert recoveries.counts() == (0, 0)
