"""The console in a browser: a service in this process, the console in another, and Chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from streambank_client import Bank, Streambank
from streambank_local.service import LocalService

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = os.environ.get("STREAMBANK_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
# What a browser does by itself, a test does not want; a container has no sandbox and no graphics card.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# A busy machine needs this for a page.
PATIENCE_MS = 60_000
LAPTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


def missing() -> str:
    """Return why no browser can be driven here, or nothing."""
    if not (find_spec("playwright") and find_spec("nicegui")):
        return "no playwright or nicegui in this Python: `make test-all` runs these tests in .venv-console"
    return "" if CHROMIUM else "no browser: apt-get install chromium, or STREAMBANK_CHROMIUM"


@pytest.fixture(scope="package")
def service() -> Iterator[LocalService]:
    if reason := missing():
        pytest.skip(reason)
    with LocalService(timer_enabled=False) as service:
        yield service


@contextmanager
def started(url: str, token: str = "local") -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run the console of the service at *url*, and return its address."""
    command = [sys.executable, "-m", "streambank_local.command", "console", "--url", url, "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": "shared:client:infra:.", "STREAMBANK_TOKEN": token}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            line = process.stdout.readline()
            assert "The console is at " in line, line
            yield line.split()[4].rstrip("."), process
        finally:
            process.terminate()


@pytest.fixture(scope="package")
def console(service: LocalService) -> Iterator[str]:
    """The address of the console."""
    with started(service.base_url) as (address, _):
        yield f"{address}/banks/default"


@pytest.fixture(scope="package")
def bank(service: LocalService) -> Iterator[Bank]:
    with Streambank(service.base_url, token="local") as client:
        yield client.bank()


@pytest.fixture(scope="package")
def browser(service: LocalService) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@dataclass
class Tab:
    """A tab of the browser, and what it did that no page of the console does."""

    page: Any
    faults: list[str] = field(default_factory=list)

    def open(self, address: str) -> Any:
        """Load a page, and wait until all of it is there."""
        self.page.goto(address)
        return self.ready()

    def ready(self) -> Any:
        """Wait until all parts of the page are there, and return the page."""
        self.page.wait_for_selector(".bottom .cost")
        self.page.wait_for_function("() => !document.querySelector('[aria-busy]')")
        return self.page

    def _watch(self, own: str) -> None:
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("console", lambda line: line.type == "error" and self.faults.append(f"console: {line.text}"))
        self.page.on("request", lambda one: one.url.startswith(own) or self.faults.append(f"request: {one.url}"))


@contextmanager
def opened(browser: Any, own: str, **context: Any) -> Iterator[Tab]:
    """Open a tab, and check at its end that no script failed, nothing popped up, and nothing left this machine."""
    with browser.new_context(viewport=LAPTOP, **context) as made:
        tab = Tab(made.new_page())
        tab._watch(own.partition("/banks")[0])
        yield tab
        assert tab.faults == []


@pytest.fixture
def tab(browser: Any, console: str) -> Iterator[Tab]:
    with opened(browser, console) as tab:
        yield tab
