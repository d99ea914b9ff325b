"""Fixtures for the tests of the documents."""

from collections.abc import Iterator

import pytest

from tests.docs.launcher import launcher
from tests.support.folders import run_folder


@pytest.fixture(scope="session")
def forked_command() -> Iterator[str]:
    """The shell command that runs `garden` in a forked process."""
    with launcher(run_folder()) as command:
        yield command
