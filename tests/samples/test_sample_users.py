"""The sample gardens are what they show: well-formed, and clean but for what a person may do."""

from pathlib import Path

import pytest

from garden.paths import GardenPath
from grammar.kinds.catalogue import load_kinds
from grammar.parsing import parse
from lint.linting import lint

SAMPLES = Path(__file__).parents[2] / "sample_users"
DOCUMENTS = sorted(SAMPLES.glob("*/**/*.md"))


def test_there_are_documents() -> None:
    assert DOCUMENTS


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: str(file.relative_to(SAMPLES)))
def test_a_sample_document_is_where_it_belongs_and_has_nothing_to_mend(file: Path) -> None:
    path = GardenPath(f"users/{file.relative_to(SAMPLES)}")
    assert path.kind is not None
    document = parse(file.read_text("utf-8"))
    report = lint(document, load_kinds()[path.kind], identity={"user_id": path.user_id})
    assert [str(finding) for finding in report.findings] == []
