"""A person in a real browser, and a guard that notes everything a page of the console must never do."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Locator,
    Page,
    Request,
    Response,
    expect,
)
from playwright.sync_api import sync_playwright as started_playwright

from tests.support.served import Service

PHONE = {"width": 375, "height": 740}
DESKTOP = {"width": 1280, "height": 800}
# A name that only this browser resolves: to this machine, as after DNS rebinding.
REBOUND = "evil.example"
# What the browser says of an answer by its status alone; the guard judges the answers themselves.
_STATUS_LINE = "Failed to load resource"
_MILLISECONDS_MAX = 20_000
_TABS_MAX = 100


@contextmanager
def running_browser() -> Iterator[Browser]:
    """The machine's own Chromium; Playwright downloads none."""
    program = shutil.which("chromium")
    assert program is not None, "run: tools/browser_setup"
    arguments = ["--no-sandbox", f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1"]
    with started_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


class Guard:
    """Watches all pages of some contexts; `faults` must be empty when a test ends."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.faults: list[str] = []

    def watch(self, context: BrowserContext) -> None:
        context.on("request", self._check_request)
        context.on("response", self._check_response)
        context.on("console", self._check_message)
        context.on("weberror", lambda error: self.faults.append(f"page error: {error.error}"))
        context.on("dialog", self._close_dialog)

    def _check_request(self, request: Request) -> None:
        if not request.url.startswith(f"{self.origin}/"):
            self.faults.append(f"request: {request.url[:200]}")

    def _check_response(self, response: Response) -> None:
        # A refusal is a page as well; nothing that a page loads may be missing.
        least = 500 if response.request.resource_type == "document" else 400
        if response.status >= least:
            self.faults.append(f"answer {response.status}: {response.url}")

    def _check_message(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(_STATUS_LINE):
            self.faults.append(f"console: {message.text[:300]}")

    def _close_dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message[:200]}")
        dialog.dismiss()


class Visits:
    """Opens browsers of their own for people, all under one guard."""

    def __init__(self, browser: Browser, service: Service) -> None:
        self.guard = Guard(service.url)
        self._browser = browser
        self._service = service
        self._contexts: list[BrowserContext] = []
        self._kept: dict[tuple[str, str, bool], Page] = {}

    def blank(self, *, is_guarded: bool = True, **options: Any) -> Page:
        """A page of a new browser in which no one is signed in."""
        page = self._open(is_guarded=is_guarded, **options)
        self._contexts.append(page.context)
        return page

    def enter(
        self, user_id: str, role: str = "maintainer", actor: str = "owner", *, to: str = "/", **options: Any
    ) -> Page:
        """Sign in by a link of the command line, in a new browser, and open a page."""
        page = self.blank(**options)
        self._sign_in(page, user_id, role, actor)
        if to != "/":
            page.goto(self.address(to))
        return page

    def stay(self, user_id: str, role: str = "maintainer", *, has_script: bool = True) -> Page:
        """The page of a person who stays signed in for all tests of a worker, which only read."""
        key = (user_id, role, has_script)
        if key not in self._kept:
            self._kept[key] = self._open(java_script_enabled=has_script)
            self._sign_in(self._kept[key], user_id, role, "mira")
        page = self._kept[key]
        page.set_viewport_size(DESKTOP)
        page.emulate_media(color_scheme="light")
        return page

    def address(self, path: str) -> str:
        return f"{self._service.url}/console{path}"

    def leave(self) -> None:
        """Close the browsers of a test, and take in what those that stay have still to report."""
        for page in self._kept.values():
            page.evaluate("0")
        while self._contexts:
            self._contexts.pop().close()

    def _open(self, *, is_guarded: bool = True, **options: Any) -> Page:
        # A page that still scrolls has its focus off the screen.
        calm: dict[str, Any] = {"viewport": DESKTOP, "reduced_motion": "reduce"}
        context = self._browser.new_context(**{**calm, **options})
        context.set_default_timeout(_MILLISECONDS_MAX)
        if is_guarded:
            self.guard.watch(context)
        return context.new_page()

    def _sign_in(self, page: Page, user_id: str, role: str, actor: str) -> None:
        code = self._service.garden.sign_ins.make_link(user_id, role=role, actor=actor)
        page.goto(self.address(f"/enter?code={code}"))
        page.wait_for_url(self.address("/"))


def shows(page: Page, words: str) -> None:
    """Wait until a person can read some words in a page."""
    expect(page.locator("main")).to_contain_text(words, timeout=_MILLISECONDS_MAX, use_inner_text=True)


def lacks(page: Page, words: str) -> None:
    """Wait until some words are gone from a page."""
    expect(page.locator("main")).not_to_contain_text(words, timeout=_MILLISECONDS_MAX, use_inner_text=True)


def click(page: Page | Locator, name: str | re.Pattern[str]) -> None:
    """Click the first link or button whose name begins so."""
    begin = re.compile(f"^{re.escape(name)}") if isinstance(name, str) else name
    page.get_by_role("button", name=begin).or_(page.get_by_role("link", name=begin)).first.click()


def tab_to(page: Page, wanted: Locator) -> None:
    """Press the Tab key until the wanted element has the focus."""
    for _ in range(_TABS_MAX):
        if wanted.evaluate("each => each === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not reach {wanted}")


def main_text(page: Page) -> str:
    """The words of a page that a person sees."""
    return str(page.inner_text("main"))


def lines_of(page: Page) -> set[str]:
    """The lines that a person reads, without the numbers and ids that another visit changes."""
    same = re.sub(r"just now|\d+ (?:s|min|h|d|wk|y) ago|evt:[0-9a-f-]+|[0-9.]+", "", main_text(page))
    return {" ".join(line.split()) for line in same.splitlines() if line.strip()}


def fits(page: Page) -> bool:
    """Whether nothing has to be scrolled sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
