"""Proves that a missing fsync is detected: removes each in turn, and expects a finding."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from inspect import getsource
from types import ModuleType

from garden.application import Garden
from garden.files import (
    beneath,
    garden_files,
    garden_folders,
    history_copies,
    plain_files,
    prepared_file,
)
from tests.crash.power.harness import Harness, Scenario
from tests.crash.power.operations import OPERATIONS
from tests.crash.power.processes import Processes
from tests.crash.power.recording import place_named

_MODULES = (garden_files, garden_folders, history_copies, prepared_file, plain_files, beneath)
_ASKING = {"sync", "os.fsync"}

# Here a process is killed before the power fails, so the next caller meets states that no other meets.
AFTER_A_KILL = ("patch", "plant", "move to a folder that is there")


@dataclass(frozen=True)
class Proof:
    """The finding for a removed sync; there must be one."""

    place: str
    scenario: str = ""
    found: str = ""
    tries: int = 0


def places() -> list[str]:
    """Name every place of the product that syncs below `users/` or `history/`."""
    calls = [each for module in _MODULES for each in _calls_in(module)]
    syncs = {(function, line) for function, called, line in calls if called in _ASKING and function != "sync"}
    return sorted(place_named(function, line) for function, line in syncs)


def _calls_in(module: ModuleType) -> Iterator[tuple[str, str, str]]:
    source = getsource(module)
    lines = source.splitlines()
    for function, call in _calls(ast.parse(source), ""):
        yield function, ast.unparse(call.func), lines[call.lineno - 1]


def _calls(node: ast.AST, inside: str) -> Iterator[tuple[str, ast.Call]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield inside, child
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield from _calls(child, f"{inside}.{child.name}".lstrip("."))
        else:
            yield from _calls(child, inside)


def meeting_places(harness: Harness) -> dict[str, list[Scenario]]:
    """Map each place to the scenarios that reach it, undisturbed ones first."""
    singles = [Scenario(operation) for operation in OPERATIONS.values()]
    killed = [each for name in AFTER_A_KILL for each in harness.scenarios(OPERATIONS[name], losses=False)]
    met: dict[str, list[Scenario]] = {}
    for scenario in [*singles, *(each for each in killed if each.first)]:
        template = harness.recorded(scenario)
        for place in {effect.place for effect in template.effects[template.begin :]} - {""}:
            met.setdefault(place, []).append(scenario)
    return met


def proof(garden: Garden, processes: Processes, place: str, scenarios: Iterable[Scenario]) -> Proof:
    """Remove a sync, and try scenarios until one fails."""
    harness = Harness(garden, processes, left_out=place)
    tries = 0
    for scenario in scenarios:
        if harness.reaches(scenario):
            tried = harness.tried(scenario, all_recoveries=False, stop_after=1)
            tries += tried.tries
            if tried.broken:
                return Proof(place, scenario.name, tried.broken[0], tries)
    return Proof(place, tries=tries)
