"""The page with the benchmarks shows one run of all contestants, and its chart shows the same run."""

import re
from xml.etree import ElementTree

import pytest

from benchmarks.chart import draw
from benchmarks.contestants.field import CONTESTANTS
from tests.docs.pages import REPOSITORY

PAGE = (REPOSITORY / "docs/benchmarks.md").read_text("utf-8")
CHART = (REPOSITORY / "docs/images/benchmark.svg").read_text("utf-8")


@pytest.mark.parametrize("title", [each.title for each in CONTESTANTS])
def test_the_page_and_the_chart_show_each_contestant_with_the_same_median(title: str) -> None:
    times = PAGE.partition("<!-- times -->")[2].partition("<!-- /times -->")[0]
    [in_table] = re.findall(rf"^\| {re.escape(title)} \| ([\d.]+) \|", times, re.MULTILINE)
    [in_chart] = re.findall(rf"[:,] {re.escape(title)} ([\d.]+) ms", CHART)
    assert float(in_chart) == pytest.approx(float(in_table), rel=0.01, abs=0.06)


def test_a_chart_is_well_formed_for_any_title() -> None:
    row = {"title": "Files & <tags>", "does": "neither", "edit": [0.002, 0.1], "read": [0.0001]}
    chart = ElementTree.fromstring(draw({"garden": row}, rounds=2))  # noqa: S314 - our own
    assert "Files & <tags>" in [text.text for text in chart.iter("{http://www.w3.org/2000/svg}text")]
