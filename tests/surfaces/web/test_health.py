"""How the service is: alive, ready, busy."""

import re

import httpx2

from garden.events.database import connection
from garden.events.migrations import shipped_migrations
from garden.home.folder import Home
from tests.support.served import Person, Service, served
from tests.support.waiting import until
from tests.surfaces.web.test_tools import refused


def test_a_service_that_can_answer_is_alive_and_ready(service: Service) -> None:
    with service.client(None) as client:
        assert client.get("/healthz").json() == {"status": "alive"}
        assert client.get("/readyz").json() == {"status": "ready"}


def test_a_service_whose_disk_is_nearly_full_is_alive_and_not_ready(ready_home: Home) -> None:
    with (
        served(ready_home, env={"GARDEN_LIMITS_FREE_DISK_BYTES": str(2**60)}) as service,
        service.client(None) as client,
    ):
        assert client.get("/healthz").status_code == 200
        answer = client.get("/readyz")
        assert "disk" in refused(answer, 503, "unavailable")["message"]
        assert "retry-after" in answer.headers


def test_a_service_whose_database_is_gone_is_alive_and_not_ready(ready_home: Home, database: str) -> None:
    with served(ready_home) as service, service.person() as person:
        person.ok("tools.list")
        name = database.partition("?")[0].rpartition("/")[2]
        elsewhere = database.replace(f"/{name}", "/postgres")
        with connection(elsewhere) as opened:
            opened.execute(f'alter database "{name}" with allow_connections false'.encode())
            opened.execute(
                b"select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = %s", [name]
            )
            assert person.client.get("/healthz").status_code == 200
            message = refused(person.client.get("/readyz"), 503, "unavailable")["message"]
            assert "database" in message
            answer = person.call("events.query")
            assert answer.status_code in {401, 503}
            opened.execute(f'alter database "{name}" with allow_connections true'.encode())
        until(lambda: person.client.get("/readyz").status_code == 200)
        person.ok("events.query")


def test_a_service_whose_database_has_another_schema_is_alive_and_not_ready(
    ready_home: Home, database: str
) -> None:
    newest = shipped_migrations()[-1]
    newer, checksum = newest.version + 1, "sha256:" + "0" * 64
    with served(ready_home) as service, service.client(None) as client, connection(database) as opened:

        def message() -> str:
            said: str = refused(until(lambda: not_ready(client)), 503, "unavailable")["message"]
            return said

        opened.execute(b"delete from garden.schema_migrations where version = %s", [newest.version])
        assert f"lacks the migrations {newest.version:04d}_{newest.name}" in message()
        assert client.get("/healthz").status_code == 200
        record = (newest.version, newest.name, newest.checksum)
        into = b"insert into garden.schema_migrations (version, name, checksum) values (%s, %s, %s)"
        opened.execute(into, record)
        assert until(lambda: client.get("/readyz").status_code == 200)
        opened.execute(into, (newer, "from_tomorrow", checksum))
        assert f"{newer:04d}_from_tomorrow, which this version does not know" in message()


def not_ready(client: httpx2.Client) -> httpx2.Response | None:
    answer = client.get("/readyz")
    return None if answer.status_code == 200 else answer


def test_the_metrics_count_requests_and_calls_and_name_nobody(ada: Person) -> None:
    def count(line: str) -> float:
        page = ada.client.get("/metrics").text
        found = re.search(rf"^{re.escape(line)} ([0-9.]+)$", page, re.MULTILINE)
        return float(found[1]) if found else 0.0

    request = 'garden_http_request_seconds_count{method="POST",route="/v1/tools/fs.read",status="404"}'
    call = 'garden_tool_call_seconds_count{code="not_found",tool="fs.read"}'
    before = count(request), count(call)
    ada.call("fs.read", path=ada.profile)
    assert (count(request), count(call)) == (before[0] + 1, before[1] + 1)
    ada.call("no.such.tool", path=ada.profile)
    ada.client.get(f"/v1/documents/{ada.notes}")
    ada.client.request("BREW", "/coffee")
    page = ada.client.get("/metrics").text
    assert ada.user_id not in page
    assert "coffee" not in page
    assert "BREW" not in page
    assert 'route="/v1/documents/{path:path}"' in page
    for name in (
        "garden_http_requests_in_flight",
        "garden_streams_open",
        "garden_readers_connections_in_use",
    ):
        assert re.search(rf"^{name} ", page, re.MULTILINE)
