"""Say something, and watch the window close and the memories come."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from uuid import uuid4

from nicegui import ui

from streambank_client.types import Event, GenerationRule, WindowDetail
from streambank_console import components as show
from streambank_console import paths
from streambank_console.pages.dialogs import tell
from streambank_console.pages.frame import Page, add_page
from streambank_console.pages.live import LivePart
from streambank_console.service import Service, first_page
from streambank_console.views import text
from streambank_console.views import try_it as views
from streambank_console.views.problems import Problem
from streambank_console.views.way import Turn

DEFAULT_STREAM = "console"
_SECONDS = 3.0
_MEMORIES = 20
_STEPS = (("+1 min", timedelta(minutes=1)), ("+5 min", timedelta(minutes=5)), ("+1 day", timedelta(days=1)))


def add(service: Service) -> None:
    """Serve the page."""
    add_page(service, "/banks/{bank}/try", "Try it", build)


async def build(page: Page) -> None:
    """Make the page."""
    if not page.scope:
        show.text("h1", "Try it")
        show.empty("Whose conversation is it?", "Choose a scope of your own, or this one:")
        show.link("user_id = ada", paths.try_it(page.bank_id, {"user_id": "ada"}), "button primary")
        return
    await _Conversation(page, page.query.get("stream") or DEFAULT_STREAM).build()


class _Conversation:
    """The conversation of the page, with the turns that it has shown."""

    def __init__(self, page: Page, stream: str) -> None:
        self._page = page
        self._stream = stream
        self._turns = dict[int, Turn]()

    async def build(self) -> None:
        """Make the elements."""
        page = self._page
        with show.box("div", "heading"):
            show.text("h1", "Try it")
            show.link(text.scope_label(page.scope), paths.scope(page.bank_id, page.scope))
            show.text("span", f"stream {text.visible(self._stream)}", "muted")
        with show.box("div", "try"):
            with show.section("Conversation", "talk"):
                self._live = LivePart(page, self._load, self._draw, seconds=_SECONDS)
                self._composer()
            with show.box("div", "side"):
                with show.section("When the window closes"):
                    self._rule()
                if page.service.local_clock and await page.service.local_clock.now():
                    with show.section("The clock of local mode"):
                        self._clock()
                with show.section("Remembered"):
                    self._remembered = show.box("div")

    def _composer(self) -> None:
        with show.box("div", "composer"):
            self._role = ui.select({"user": "User", "model": "Agent"}, value="user", label="Says").props(
                "outlined dense"
            )
            self._words = ui.input("Message").props("outlined dense").classes("field").on("keydown.enter", self._say)
            show.button("Send", self._say, "primary")

    def _rule(self) -> None:
        self._count = ui.number("After this many events", value=4, min=1, max=10_000, precision=0).props(
            "outlined dense"
        )
        self._idle = ui.number("After this many idle minutes", value=5, min=1, max=43_200, precision=0).props(
            "outlined dense"
        )
        show.text("p", "The rule is sent with each message; the window closes at whatever comes first.", "muted small")
        show.button("Close the window now", self._close)

    def _clock(self) -> None:
        show.text("p", "Move the clock ahead instead of waiting.", "muted small")
        with show.box("div", "actions"):
            for label, span in _STEPS:
                show.button(label, partial(self._advance, span))

    async def _load(self) -> views.Conversation:
        page = self._page
        page.now = await page.service.now()
        # A call without events changes nothing, and returns the newest window of the stream.
        newest = await page.bank.ingest_events(scope=page.scope, stream_id=self._stream)
        full = await page.bank.get_operation(operation=newest.name, view="FULL") if newest.metadata.window else newest
        listed = page.bank.retrieve_all_memories(scope=page.scope, page_size=_MEMORIES + 1)
        memories = await first_page(listed, _MEMORIES)
        view = views.conversation(
            page.bank_id, self._turns, full.name, full.metadata, full.detail or WindowDetail(), memories.rows
        )
        self._turns = {one.sequence: one for one in view.turns}
        return view

    def _draw(self, view: views.Conversation) -> None:
        if not view.turns:
            show.empty("Nothing was said yet.", 'Say something about yourself, for example "I keep bees in Graz."')
        with show.box("ol", "turns", aria_label="Conversation"):
            for one in view.turns:
                self._turn(one)
        if view.window:
            with show.box("p", "window", role="status"):
                show.text("strong", f"Window {view.window}")
                show.badge(view.state)
                if view.due:
                    show.countdown(view.due, self._page.now)
                if view.failure:
                    show.text("span", view.failure, "muted")
                show.link("See its way", view.way_href)
        self._remembered.clear()
        with self._remembered:
            self._memories(view)

    def _turn(self, one: Turn) -> None:
        with show.box("li", f"turn {'user' if one.role == 'user' else 'agent'}"):
            show.quoted(one.text)
            with show.box("div", "meta"):
                show.text("span", "User" if one.role == "user" else "Agent", "muted small")
                if one.event_id:
                    address = paths.event(self._page.bank_id, self._page.scope, self._stream, one.event_id)
                    show.link("its way", address, "small", aria_label=f"The way of event {one.sequence}")

    def _memories(self, view: views.Conversation) -> None:
        if not view.memories:
            show.empty("Nothing yet.", "Memories appear here after the window has closed.")
        with show.box("ul", "memories"):
            for one in view.memories:
                with show.box("li"), show.box("a", "fact", href=one.href):
                    show.quoted(one.fact, tag="span")

    async def _say(self) -> None:
        words = str(self._words.value or "").strip()
        if not words:
            return
        rule = GenerationRule(
            event_count=int(self._count.value or 1), idle_duration=timedelta(minutes=int(self._idle.value or 1))
        )
        event = Event.from_text(words, role=str(self._role.value), event_id=str(uuid4()))
        sent = self._page.bank.ingest_events(
            scope=self._page.scope, stream_id=self._stream, events=[event], generation_rule=rule
        )
        if await self._succeeds(sent):
            self._words.value = ""

    async def _close(self) -> None:
        await self._succeeds(
            self._page.bank.ingest_events(scope=self._page.scope, stream_id=self._stream, force_flush=True)
        )

    async def _advance(self, span: timedelta) -> None:
        clock = self._page.service.local_clock
        if clock and await clock.advance(span):
            tell(f"The clock is {text.duration(span)} ahead; what was due is done.")
        await self._live.refresh()

    async def _succeeds(self, call: object) -> bool:
        result = await self._page.service.attempt(call)  # type: ignore[arg-type]
        if isinstance(result, Problem):
            tell(f"{result.title} {result.cure}", is_bad=True)
        await self._live.refresh()
        return not isinstance(result, Problem)
