"""The state of the service: liveness, readiness, metrics."""

import re

import pytest

from garden.events.database import connection
from garden.home.folder import Home
from tests.support.served import Person, Service, served
from tests.support.waiting import until
from tests.surfaces.web.test_tool_routes import refused


def test_a_service_that_can_answer_is_alive_and_ready(service: Service) -> None:
    with service.client(None) as client:
        assert client.get("/healthz").json() == {"status": "alive"}
        assert client.get("/readyz").json() == {"status": "ready"}


@pytest.mark.own_database
def test_a_service_without_its_database_is_alive_and_not_ready(ready_home: Home, database: str) -> None:
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
            answer = person.client.get("/readyz")
            assert "database" in refused(answer, 503, "unavailable")["message"]
            assert "retry-after" in answer.headers
            answer = person.call("events.query")
            assert answer.status_code in {401, 503}
            opened.execute(f'alter database "{name}" with allow_connections true'.encode())
        until(lambda: person.client.get("/readyz").status_code == 200)
        person.ok("events.query")


def test_the_metrics_count_requests_and_calls_and_name_no_user(ada: Person) -> None:
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
    given = 'garden_recall_total{outcome="empty",tool="memory.context"}'
    before_giving = count(given)
    ada.ok("memory.context", tokens=1000)
    assert count(given) == before_giving + 1
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
