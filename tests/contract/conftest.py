"""The contract tests share one database; each finds it empty."""

import pytest


@pytest.fixture
def database(cleared_database: str) -> str:
    return cleared_database
