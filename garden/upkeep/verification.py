"""Verifying the events of users with the current keys."""

from collections.abc import Iterator

from garden.events.maintenance import Maintenance
from garden.events.pool import Pool
from garden.events.reader import EventReader
from garden.events.verifier import Verdict, Verifier
from garden.grammar.errors import GardenError
from garden.home.keys import KeySource
from garden.home.settings import Settings
from garden.home.setup import prepare_home


class UserUnknownError(GardenError):
    """No event and no garden of this user exists."""

    code = "not_found"


def verify_users(settings: Settings, user_id: str | None = None) -> Iterator[tuple[str, Verdict]]:
    """Verify one user's events, or every user's; yields each verdict as soon as it is known."""
    ground = prepare_home(settings, may_create=False)
    with Pool(ground.database_url) as pool:
        verifier = Verifier(EventReader(pool), KeySource(settings, ground.home))
        users = Maintenance(pool).users()
        if user_id is not None and user_id not in users:
            raise UserUnknownError(
                f"There are no events of user {user_id!r}.",
                hint="'garden keys verify' without --user verifies every user.",
            )
        for each in users if user_id is None else [user_id]:
            yield each, verifier.check_user(each)
