"""What the files in `deploy/` run, parsed out of them."""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"


def compose() -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return parsed


def pod() -> dict[str, Any]:
    for each in yaml.safe_load_all((DEPLOY / "kubernetes/garden.yaml").read_text()):
        if each["kind"] == "Deployment":
            spec: dict[str, Any] = each["spec"]["template"]["spec"]
            return spec
    raise AssertionError("no Deployment")


@dataclass(frozen=True)
class Image:
    """The settings of the image."""

    entrypoint: list[str]
    command: list[str]
    health: list[str]
    environment: dict[str, str]


def image() -> Image:
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
    final = text[text.rindex("\nFROM ") :]
    found = dict(re.findall(r"^(ENTRYPOINT|CMD|HEALTHCHECK.*? CMD) +(\[.*\])$", final, re.MULTILINE))
    (health,) = [value for name, value in found.items() if name.startswith("HEALTHCHECK")]
    words = re.search(r"^ENV (.*)$", final, re.MULTILINE)
    assert words
    environment = dict(word.split("=", 1) for word in words[1].split())
    entrypoint, command = json.loads(found["ENTRYPOINT"]), json.loads(found["CMD"])
    return Image(entrypoint, command, json.loads(health), environment)


def unit_commands(unit: Path, name: str, instance: str) -> list[str]:
    """The command of a line such as ExecStart."""
    (line,) = re.findall(rf"^{name}=(.*)$", unit.read_text(), re.MULTILINE)
    return shlex.split(line.replace("%i", instance))


def unit_environment(unit: Path) -> dict[str, str]:
    lines = re.findall(r"^Environment=(.*)$", unit.read_text(), re.MULTILINE)
    return dict(word.split("=", 1) for line in lines for word in shlex.split(line))
