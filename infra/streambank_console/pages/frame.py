"""The frame of all pages: navigation, errors, and what the page cost."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from nicegui import ui
from starlette.requests import Request

from streambank_client import AsyncBank
from streambank_client.errors import StreambankError
from streambank_console import components as show
from streambank_console import paths
from streambank_console.service import CallCount, Service, calls_of_page
from streambank_console.views import text
from streambank_console.views.problems import problem

# How long a page may take that waits for a slow service.
PATIENCE_SECONDS = 65.0
_STYLE = "/static/console.css"
_SCRIPT = "/static/console.js"


@dataclass
class Page:
    """A page that is being shown: its service, its bank, its address, and the time by the service's clock."""

    service: Service
    bank_id: str
    address: str
    full_address: str
    path: Mapping[str, str]
    query: Mapping[str, str]
    scope: dict[str, str]
    now: datetime
    calls: CallCount
    began: float
    cost: Any = field(default=None)

    @property
    def bank(self) -> AsyncBank:
        """The bank of the page."""
        return self.service.bank(self.bank_id)

    def done(self, message: str) -> None:
        """Load the page again, which then says what was done."""
        self.service.notices[self.full_address] = message
        ui.navigate.to(self.full_address)

    def show_cost(self) -> None:
        """Show how many requests the page has made, their time, and the time of the page with them."""
        now = time.monotonic()
        requests, seconds = text.count(self.calls.requests, "request"), self.calls.seconds(now)
        self.cost.text = f"{requests} to the service in {seconds:,.2f} s; the page took {now - self.began:,.2f} s"


Builder = Callable[[Page], Awaitable[None]]


def add_page(service: Service, path: str, title: str, build: Builder) -> None:
    """Serve a page at *path*: *build* makes its elements."""

    async def page(request: Request) -> None:
        counted = CallCount()
        calls_of_page.set(counted)
        began = time.monotonic()
        now = await service.now()
        query = request.query_params.multi_items()
        opened = Page(
            service=service,
            bank_id=request.path_params["bank"],
            address=request.url.path,
            full_address=f"{request.url.path}?{request.url.query}".rstrip("?"),
            path=request.path_params,
            query=dict(query),
            scope=paths.read_scope(query),
            now=now,
            calls=counted,
            began=began,
        )
        await _framed(opened, title, build)

    ui.page(path, title=f"{title} · Streambank", dark=None, response_timeout=PATIENCE_SECONDS, language="en-US")(page)


async def _framed(page: Page, title: str, build: Builder) -> None:
    ui.add_head_html(f'<link rel="stylesheet" href="{_STYLE}"><script src="{_SCRIPT}" defer></script>')
    offset = str(int((page.now - datetime.now(UTC)).total_seconds() * 1000))
    with show.box("div", "console", data_offset=offset):
        show.text("a", "Skip to the content", "skip", href="#content")
        _header(page)
        with show.box("div", "content", id="content", tabindex="-1"):
            if notice := page.service.notices.pop(page.full_address, ""):
                show.text("p", notice, "notice", role="status")
            try:
                await build(page)
            except (StreambankError, ValueError) as error:
                show.text("h1", title)
                show.problem(problem(error, page.service.url))
        _footer(page)
    page.show_cost()


def _header(page: Page) -> None:
    bank, scope = page.bank_id, page.scope
    with show.box("header", "top"):
        show.link("Streambank", paths.overview(bank), "brand")
        with show.box("nav", "", aria_label="Pages"):
            for name, href, key in (
                ("Overview", paths.overview(bank), "o"),
                ("Memories", paths.scope(bank, scope) if scope else paths.memories(bank), "m"),
                ("Windows", paths.windows(bank), "w"),
                ("Search", paths.search(bank, scope), "s"),
                ("Try it", paths.try_it(bank, scope), "t"),
            ):
                current = {"aria_current": "page"} if href.partition("?")[0] == page.address else {}
                show.link(name, href, data_key=key, **current)
        with show.box("form", "who", action=f"{paths.overview(bank)}/open", method="get", role="search"):
            value = ", ".join(f"{key}={one}" for key, one in scope.items())
            show.box(
                "input",
                "",
                name="who",
                value=value,
                placeholder="user_id=ada",
                aria_label="Open a scope, such as user_id=ada",
                data_search="",
                autocomplete="off",
            )
            show.text("button", "Open", "button", type_="submit")


def _footer(page: Page) -> None:
    with show.box("footer", "bottom"):
        show.text("span", f"{page.service.url}, bank {text.visible(page.bank_id)}")
        page.cost = show.text("span", "", "cost")
        with show.box("details", "keys", data_keys_help=""):
            show.text("summary", "Keys")
            for keys, meaning in (
                ("g o", "overview"),
                ("g m", "memories"),
                ("g w", "windows"),
                ("g s", "search"),
                ("g t", "try it"),
                ("/", "open a scope"),
                ("?", "this list"),
            ):
                with show.box("p"):
                    show.text("kbd", keys)
                    show.text("span", meaning)
            with show.box("label"):
                show.box("input", "", type_="checkbox", data_keys_switch="")
                show.text("span", "Use these keys")
