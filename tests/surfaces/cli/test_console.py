"""`garden console`, as a real process: its link, the service it finds or starts, and its end."""

import signal
from collections.abc import Iterator
from subprocess import Popen
from urllib.parse import urlsplit

import httpx2
import pytest

from garden.application import Garden
from garden.home.running import announced
from garden.session import Session
from tests.support.processes import spawn_garden
from tests.support.served import NO_AUTHORITIES
from tests.support.visitors import words_of
from tests.surfaces.cli.conftest import Command

_PATIENCE_SECONDS = 60


@pytest.fixture
def console(garden: Garden, ada: Session) -> Iterator[Popen[str]]:
    """The command that serves the console itself."""
    words = ("console", "--user", ada.caller.user_id, "--port", "0", "--no-browser")
    with spawn_garden(*words, home=garden.home.path) as process:
        try:
            yield process
        finally:
            process.kill()


def test_it_serves_links_that_work_once_until_ctrl_c(
    console: Popen[str], run: Command, garden: Garden
) -> None:
    assert console.stdout is not None
    assert console.stderr is not None
    link = console.stdout.readline().strip()
    assert urlsplit(link).hostname == "127.0.0.1"
    with httpx2.Client(verify=NO_AUTHORITIES) as browser:
        assert "You are signed in" in browser.get(link).text
        page = browser.get(f"{link.partition('/enter')[0]}/").text
        assert "owner, maintainer" in page
    with httpx2.Client(verify=NO_AUTHORITIES) as other:
        assert "used already" in words_of(other.get(link).text)
        # A second command finds the service, and returns at once.
        second = run.well("console", "--user", "ada", "--role", "reviewer", "--actor", "mira").strip()
        assert urlsplit(second).netloc == urlsplit(link).netloc
        other.get(second)
        assert "mira, reviewer" in other.get(f"{link.partition('/enter')[0]}/").text
    console.send_signal(signal.SIGINT)
    _, err = console.communicate(timeout=_PATIENCE_SECONDS)
    assert "Press Ctrl-C to end." in err
    assert "Traceback" not in err
    assert console.returncode in (0, 130)
    assert not list(garden.home.state.glob("serving-*"))


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("--user", "ben"), "ben"),
        (("--user", "ada", "--role", "gardener"), "There is no role 'gardener'"),
        (("--user", "ada", "--role", "agent"), "No agent can have the name 'owner'"),
        (("--user", "ada", "--actor", " mira"), "can't be an actor's name"),
    ],
)
def test_a_link_for_no_caller_is_refused(run: Command, words: tuple[str, ...], refusal: str) -> None:
    assert refusal in run.fails("console", "--port", "0", *words)


@pytest.mark.usefixtures("ada")
def test_the_link_is_in_no_command_that_other_accounts_see(
    run: Command, garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with announced(garden.home, "http://127.0.0.1:1"):
        link = run.well("console", "--user", "ada", tty=True).strip()
        run.well("console", "--user", "ada", "--no-browser", tty=True)
    page = garden.home.state / "console.html"
    assert opened == [page.as_uri()]
    assert page.stat().st_mode & 0o777 == 0o600
    assert f"url={link}" in page.read_text()
