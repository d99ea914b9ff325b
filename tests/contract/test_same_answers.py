"""Every surface returns the same envelope for the same call."""

import json
from collections.abc import Iterator

import pytest

from garden.application import Garden
from garden.home.folder import Home
from garden.tools.registry import REGISTRY
from tests.contract.sameness import Likeness, for_user
from tests.contract.steps import STEPS, Envelope
from tests.contract.surfaces import SURFACES
from tests.support.gardens import out_of_step
from tests.support.planted import opened


@pytest.fixture
def garden(ready_home: Home) -> Iterator[Garden]:
    with opened(ready_home) as garden:
        yield garden
        assert out_of_step(garden) == []


def answers(garden: Garden, surface: str, user_id: str) -> dict[str, Envelope]:
    """Take every step on one surface and return the comparable part of each answer."""
    given: dict[str, Envelope] = {}
    likeness = Likeness(user_id)
    alike: dict[str, Envelope] = {}
    with SURFACES[surface](garden, user_id) as ask:
        for step in STEPS:
            args = for_user(step.args(given) if callable(step.args) else step.args, user_id)
            given[step.name] = ask(step.role, step.tool, args)
            alike[step.name] = likeness.of(given[step.name])
    return alike


def _lines(envelope: Envelope) -> list[str]:
    """Write an envelope so that a difference is shown by its line."""
    return json.dumps(envelope, indent=1, sort_keys=True).splitlines()


def code_of(envelope: Envelope) -> str:
    return "ok" if envelope["ok"] else str(envelope["error"]["code"])


def test_the_steps_give_every_tool_good_and_bad_input() -> None:
    assert {step.tool for step in STEPS if step.code == "ok"} == set(REGISTRY)
    assert {step.tool for step in STEPS if step.code != "ok"} >= set(REGISTRY)
    assert len({step.name for step in STEPS}) == len(STEPS)


def test_every_step_has_its_expected_code(garden: Garden) -> None:
    alike = answers(garden, "python", "ada-1")
    assert {name: code_of(envelope) for name, envelope in alike.items()} == {
        step.name: step.code for step in STEPS
    }


@pytest.mark.parametrize("surface", [name for name in SURFACES if name != "python"])
def test_every_surface_answers_as_python_does(garden: Garden, surface: str) -> None:
    expected = answers(garden, "python", "ada-1")
    found = answers(garden, surface, "ada-2")
    for step in STEPS:
        assert _lines(found[step.name]) == _lines(expected[step.name]), step.name
