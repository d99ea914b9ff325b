"""Whether a garden can answer calls: its database, its schema and its disk."""

import asyncio

import pytest

from garden.application import Garden
from garden.events.database import connection
from garden.events.migrations import shipped_migrations
from garden.gateway.readiness import Readiness
from garden.home.disk_space import DiskSpace


def obstacles(garden: Garden) -> list[str]:
    readiness = Readiness(garden.services)
    try:
        return asyncio.run(readiness.obstacles())
    finally:
        readiness.close()


def test_a_garden_that_can_answer_names_no_obstacle(garden: Garden) -> None:
    assert obstacles(garden) == []


def test_a_disk_that_is_nearly_full_is_an_obstacle(garden: Garden) -> None:
    garden.services.disk_space = DiskSpace(garden.home.path, 2**60)
    assert obstacles(garden) == ["the disk is nearly full"]


@pytest.mark.own_database
def test_another_schema_than_this_versions_is_an_obstacle(garden: Garden, database: str) -> None:
    newest = shipped_migrations()[-1]
    tomorrow = newest.version + 1, "from_tomorrow", "sha256:" + "0" * 64
    insert = b"insert into garden.schema_migrations (version, name, checksum) values (%s, %s, %s)"
    with connection(database) as opened:
        opened.execute(b"delete from garden.schema_migrations where version = %s", [newest.version])
        assert obstacles(garden) == [f"the database lacks the migrations {newest.version:04d}_{newest.name}"]
        opened.execute(insert, (newest.version, newest.name, newest.checksum))
        assert obstacles(garden) == []
        opened.execute(insert, tomorrow)
        (found,) = obstacles(garden)
        assert f"{tomorrow[0]:04d}_from_tomorrow, which this version does not know" in found


@pytest.mark.own_database
def test_the_answer_is_kept_for_a_moment(garden: Garden, database: str) -> None:
    async def ask_twice() -> list[list[str]]:
        first = await readiness.obstacles()
        with connection(database) as opened:
            opened.execute(b"delete from garden.schema_migrations")
        return [first, await readiness.obstacles()]

    readiness = Readiness(garden.services)
    assert asyncio.run(ask_twice()) == [[], []]
    readiness.close()
