"""The commands that containers and units run start, answer, and stop."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest

from garden.home.folder import Home
from garden.upkeep.jobs import queue_name
from garden.upkeep.service_units import UNITS, installed_program, plan_units, put_units
from tests.deploy.deployed import DEPLOY, compose, image, pod, unit_commands, unit_environment
from tests.support.brokers import RealBroker, real_broker
from tests.support.ports import free_port
from tests.support.prepared_home import copy_prepared_home
from tests.support.served import NO_AUTHORITIES

ROLES = ("serve", "worker", "schedule")
READY = {"serve": "Listening on ", "worker": "Working with ", "schedule": "Scheduling for "}


@contextmanager
def running(command: list[str], env: dict[str, str], log: Path) -> Iterator[None]:
    """Run a command that says when it is ready; afterwards stop it, and check that it ended well."""
    with (
        log.open("w") as errors,
        subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        try:
            assert process.stdout
            line = process.stdout.readline()
            assert line.startswith(READY[command[-1]]), log.read_text()
            yield
            process.terminate()
            assert process.wait(timeout=60) == 0, log.read_text()
        finally:
            process.kill()
    assert "Traceback" not in log.read_text()


def code_of(command: list[str], env: dict[str, str]) -> int:
    return subprocess.run(command, env=env, capture_output=True, check=False).returncode


def make_token(env: dict[str, str]) -> str:
    words = "token create --user ada --role agent --actor companion"
    done = subprocess.run(["garden", *words.split()], env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def call(port: str, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    with httpx2.Client(
        base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60, verify=NO_AUTHORITIES
    ) as client:
        answer = client.post("/v1/tools/md.plant", json={"path": "users/ada/notes.md"})
        assert answer.status_code == 200, answer.text


@pytest.fixture
def broker(home: Home, folder: Path) -> Iterator[RealBroker]:
    with real_broker("redis", folder, queue_name(home)) as made:
        yield made


@pytest.fixture
def outside() -> dict[str, str]:
    """The machine's variables, with this environment's programs first."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {"PATH": path, "GARDEN_SERVE_PORT": str(free_port()), "GARDEN_SERVE_PROCESSES": "2"}


@pytest.fixture
def contained(
    home: Home, folder: Path, database: str, broker: RealBroker, outside: dict[str, str]
) -> dict[str, str]:
    """The variables of a container of compose, with this test's home, database, broker and port."""
    (folder / "database-url").write_text(database)
    service = compose()["services"]["service"]
    given = image().environment | service["environment"]
    assert set(given) >= {"GARDEN_HOME", "GARDEN_DATABASE_URL_FILE", "GARDEN_BROKER_URL", "GARDEN_SERVE_HOST"}
    assert given["GARDEN_DATABASE_URL_FILE"] == f"/run/secrets/{service['secrets'][0]}"
    ours = {"GARDEN_DATABASE_URL_FILE": str(folder / "database-url"), "GARDEN_BROKER_URL": broker.url}
    return {**given, **outside, **ours, "GARDEN_HOME": str(home.path)}


def test_every_container_runs_one_of_the_three_programs() -> None:
    made = image()
    own = [each for each in compose()["services"].values() if each["image"] == "localhost/memory-garden"]
    by_compose = [made.entrypoint + each.get("command", made.command) for each in own]
    by_kubernetes = [made.entrypoint + each["args"] for each in pod()["containers"]]
    assert by_compose == by_kubernetes == [["garden", role] for role in ROLES]


def test_the_containers_start_answer_and_stop(contained: dict[str, str], folder: Path) -> None:
    made, services, port = image(), compose()["services"], contained["GARDEN_SERVE_PORT"]
    serving = services["service"]["healthcheck"]["test"]
    checks = [[word.replace("8620", port) for word in each] for each in (made.health, serving[1:])]
    assert serving[0] == "CMD"
    for init in pod()["initContainers"]:
        assert code_of(made.entrypoint + init["args"], contained) == 0
    token = make_token(contained)
    assert [code_of(each, contained) for each in checks] == [1, 1]
    with ExitStack() as stack:
        for role in ROLES:
            log = folder / f"{role}.log"
            stack.enter_context(running([*made.entrypoint, role], contained, log))
        assert [code_of(each, contained) for each in checks] == [0, 0]
        assert code_of(services["worker"]["healthcheck"]["test"][1:], contained) == 0
        serve = pod()["containers"][0]
        for probe in ("readinessProbe", "livenessProbe"):
            path = serve[probe]["httpGet"]["path"]
            assert httpx2.get(f"http://127.0.0.1:{port}{path}", verify=NO_AUTHORITIES).status_code == 200
        call(port, token)


@pytest.mark.parametrize("page", ["deploy/compose.yaml", "docs/deploy.md"])
def test_the_first_commands_of_compose_work_on_empty_volumes(
    outside: dict[str, str], folder: Path, database: str, page: str
) -> None:
    env = outside | {"GARDEN_HOME": str(folder / "volume"), "GARDEN_DATABASE_URL": database}
    commands = re.findall(r"podman compose run --rm service (.*)", (DEPLOY.parent / page).read_text())
    assert len(commands) == 2
    for command in commands:
        assert code_of([*image().entrypoint, *command.split()], env) == 0, command


def test_the_units_start_answer_and_stop(folder: Path, broker: RealBroker, outside: dict[str, str]) -> None:
    home = copy_prepared_home(folder / "of units")
    put_units(plan_units(home, installed_program(), folder / "units", None))
    program, database = (folder / "units" / name for name in UNITS)
    env = outside | unit_environment(program) | {"GARDEN_BROKER_URL": broker.url}
    assert code_of(unit_commands(database, "ExecStart", ""), outside | unit_environment(database)) == 0
    token = make_token(env)
    with ExitStack() as stack:
        for role in ROLES:
            command = unit_commands(program, "ExecStart", role)
            stack.enter_context(running(command, env, folder / f"{role}.log"))
        call(env["GARDEN_SERVE_PORT"], token)
    stop = subprocess.run(
        unit_commands(database, "ExecStop", ""), env=env, capture_output=True, text=True, check=True
    )
    assert stop.stdout == "Stopped.\n"


def test_every_container_is_confined() -> None:
    for each in compose()["services"].values():
        assert each["read_only"]
        assert each["cap_drop"] == ["ALL"]
        assert each["security_opt"] == ["no-new-privileges:true"]
    spec = pod()
    made = (DEPLOY / "Containerfile").read_text()
    # Without a group of the same number, the embedded Postgres can't own its files.
    user, group = re.findall(r"^USER (\d+):(\d+)$", made, re.MULTILINE)[0]
    assert f"groupadd --system --gid {group} garden" in made
    assert f"useradd --system --uid {user} --gid garden " in made
    numbers = [str(spec["securityContext"][name]) for name in ("runAsUser", "runAsGroup", "fsGroup")]
    assert numbers == [user, group, group]
    assert spec["securityContext"]["runAsNonRoot"]
    assert not spec["automountServiceAccountToken"]
    for each in spec["initContainers"] + spec["containers"]:
        context = each["securityContext"]
        assert (context["readOnlyRootFilesystem"], context["allowPrivilegeEscalation"]) == (True, False)
        assert context["capabilities"] == {"drop": ["ALL"]}


def test_no_file_holds_a_secret() -> None:
    files = [path.read_text() for path in DEPLOY.rglob("*") if path.is_file()]
    assert len(files) > 8
    for text in files:
        assert not re.search(r"://\w+:(?!%s@)[^@\s]+@", text)
        assert not re.search(r"(?i)(password|keys): *['\"]?\w", text)
