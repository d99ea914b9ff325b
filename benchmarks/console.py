"""The first pages of the console at 10,000 events and 2,000 documents: time at the server, and size."""

from collections.abc import Iterator

import httpx2

from benchmarks.http import serving
from benchmarks.ratios import Ratio, median_seconds
from garden.application import Garden
from garden.demo.throw_away import throw_away_home
from garden.events.database import connection
from garden.events.migrations import migrate
from garden.home.embedded import EmbeddedPostgres
from garden.home.settings import load_settings
from garden.home.setup import PreparedHome
from tests.browser.addresses import PAGES
from tests.browser.large_garden import grow

_MILLISECONDS_MAX, _BYTES_MAX = 100, 150_000
_ROUNDS = 20


def measure() -> Iterator[Ratio]:
    with throw_away_home() as home:
        url = EmbeddedPostgres(home).ensure_running()
        with connection(url) as opened:
            migrate(opened)
        with Garden(load_settings(home.path).settings, PreparedHome(home, url, ())) as garden:
            story = grow(garden, url)
            code = garden.sign_ins.make_link(story.user_id, role="maintainer", actor="owner")
        with serving(home) as (host, port, _), httpx2.Client(base_url=f"http://{host}:{port}") as client:
            client.get(f"/console/enter?code={code}").raise_for_status()
            yield from _pages(client, [story.address(each) for each in PAGES])


def _pages(client: httpx2.Client, addresses: list[str]) -> Iterator[Ratio]:
    floor = median_seconds(lambda: client.get("/healthz").raise_for_status(), _ROUNDS)
    largest, where = 0, ""
    for address in addresses:
        size = len(client.get(f"/console{address}").raise_for_status().content)
        largest, where = max((largest, where), (size, address))
        took = median_seconds(lambda page=f"/console{address}": client.get(page).raise_for_status(), _ROUNDS)  # type: ignore[misc]
        detail = f"{took / floor:.0f} times a health check, {size / 1000:.0f} kB"
        yield Ratio(f"console: {address[:48]}, ms", took * 1000, _MILLISECONDS_MAX, detail=detail)
    yield Ratio("console: bytes of the largest page", largest, _BYTES_MAX, detail=where)
