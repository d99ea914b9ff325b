"""Checking the accounts of users against the keys that are in force, and the files against the accounts."""

from collections.abc import Iterator

from garden.events.maintenance import Maintenance
from garden.events.pool import Pool
from garden.events.reader import EventReader
from garden.events.verifier import Verdict, Verifier
from garden.files.garden_files import GardenFiles
from garden.files.paths import GardenPath
from garden.grammar.errors import GardenError
from garden.home.keys import KeySource
from garden.home.settings import Settings
from garden.home.setup import prepare_home


class UserUnknownError(GardenError):
    """Nothing was ever recorded for such a user."""

    code = "not_found"


def verify_accounts(settings: Settings, user_id: str | None = None) -> Iterator[tuple[str, Verdict]]:
    """Check one user's account, or every user's, each with its verdict as soon as there is one."""
    ground = prepare_home(settings)
    with Pool(ground.database_url) as pool:
        verifier = Verifier(EventReader(pool), KeySource(settings, ground.home))
        users = Maintenance(pool).users()
        if user_id is not None and user_id not in users:
            raise UserUnknownError(
                f"The account knows no user {user_id!r}.",
                hint="'garden keys verify' checks every user there is.",
            )
        for each in users if user_id is None else [user_id]:
            yield each, verifier.check_user(each)


def unmatched(files: GardenFiles, reader: EventReader, user_id: str) -> Iterator[str]:
    """Name every document of a user that is not, byte for byte, what its events say."""
    for path in files.documents(GardenPath(f"users/{user_id}")):
        head = reader.head(user_id, path.text)
        text = files.read(path).text
        if head is None or head.version == 0 or reader.text_at(user_id, path.text, head.version) != text:
            yield path.text
