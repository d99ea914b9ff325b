"""What programs find in a page: axe-core about access for all, html-validate about its markup."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from playwright.sync_api import Page

_ENVIRONMENT = Path(__file__).parents[2] / ".venv"
_PACKAGES = _ENVIRONMENT / "browser" / "node_modules"
_VALIDATOR = Path(__file__).with_name("validate.cjs")
# What axe-core finds by colours; all else is the same in the dark.
COLOURS = ("color-contrast", "link-in-text-block")
_RUN_AXE = """async rules => (await axe.run(rules.length ? {runOnly: rules} : {})).violations.flatMap(
    rule => rule.nodes.map(node => `${rule.id}: ${node.target.join(" ")}: ${node.failureSummary}`))"""


@cache
def _axe() -> str:
    return (_PACKAGES / "axe-core" / "axe.min.js").read_text("utf-8")


def barriers(page: Page, *rules: str) -> list[str]:
    """Everything that axe-core finds, or what some of its rules find."""
    # A script in the page would break its policy; this one comes from the outside.
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(_axe())
    found: list[str] = page.evaluate(_RUN_AXE, rules)
    return found


class Validator:
    """html-validate, in a process that lasts."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def faults(self, html: str) -> list[str]:
        """Everything that is wrong with a page's markup."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(html) + "\n")
        self._process.stdin.flush()
        found: list[str] = json.loads(self._process.stdout.readline())
        return found


@contextmanager
def running_validator() -> Iterator[Validator]:
    node = _ENVIRONMENT / "bin" / "node"
    environment = {**os.environ, "NODE_PATH": str(_PACKAGES)}
    with subprocess.Popen(
        [node, _VALIDATOR], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        yield Validator(process)
