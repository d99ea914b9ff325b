"""The dashboard and the alerts ask for metrics that the service has."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from garden.home.folder import Home
from tests.deploy.deployed import DEPLOY
from tests.support.served import served

RULES = yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text())["groups"][0]["rules"]
PAGE = DEPLOY.parent / "docs/deploy.md"
# Prometheus adds these; it stores the garden's own label 'job' as 'exported_job'.
ADDED = {"instance": None, "exported_job": "job"}


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in RULES)
    panels: list[dict[str, Any]] = json.loads((DEPLOY / "grafana/dashboard.json").read_text())["panels"]
    yield from (target["expr"] for panel in panels for target in panel["targets"])


@pytest.mark.own_database
def test_every_metric_and_label_is_one_of_a_running_service(ready_home: Home) -> None:
    with served(ready_home) as service, service.writer() as person:
        person.call("fs.read", path=person.notes)
        person.ok("memory.context", tokens=500)
        page = person.client.get("/metrics", headers={"Authorization": ""}).text
    labels: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(page):
        # A counter without a sample yet.
        labels.setdefault(f"{family.name}_total" if family.type == "counter" else family.name, set())
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)
    asked = [
        (name, set(re.findall(r"(\w+)(?:=~|!~|!=|=)", matchers)))
        for expression in expressions()
        for name, matchers in re.findall(r"\b(garden_\w+)(?:\{(.*?)\})?", expression)
    ]
    assert {name for name, _ in asked} <= labels.keys()
    for name, matched in asked:
        known = {ADDED.get(each, each) for each in matched} - {None}
        assert known <= labels[name] or not labels[name], (name, known, labels[name])


def test_every_alert_has_a_remedy_and_is_proved() -> None:
    headings = {
        line.removeprefix("### ").lower() for line in PAGE.read_text().splitlines() if line[:4] == "### "
    }
    proofs = (DEPLOY / "prometheus/alerts-test.yaml").read_text()
    for rule in RULES:
        page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
        assert page.endswith("/docs/deploy.md")
        assert anchor == rule["alert"].lower()
        assert anchor in headings
        assert proofs.count(rule["alert"]) > 1
