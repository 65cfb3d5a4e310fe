"""Parts of a page that load after it, and again while someone looks at them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from nicegui import ui

from streambank_console import components as show
from streambank_console.pages.frame import Page
from streambank_console.views.problems import Problem

V = TypeVar("V")


class LivePart(Generic[V]):
    """A part whose view is loaded every *seconds*; its elements are made again only where the view has changed."""

    def __init__(
        self,
        page: Page,
        load: Callable[[], Awaitable[V]],
        draw: Callable[[V], None],
        *,
        seconds: float,
    ) -> None:
        self._page = page
        self._load = load
        self._draw = draw
        self._view: V | Problem | None = None
        self._loading = asyncio.Lock()
        self._place = show.box("div", "live", aria_busy="true")
        with self._place:
            show.text("p", "Loading …", "muted loading")
        self._first = ui.timer(0, self.refresh, once=True)
        self._timer = ui.timer(seconds, self._on_time, immediate=False)
        ui.on("console-visible", self._on_visible)

    async def refresh(self) -> None:
        """Load the view, after a load that is under way, and show it if it is another one."""
        async with self._loading:
            await self._refresh()

    async def _on_time(self) -> None:
        if not self._loading.locked():
            await self.refresh()

    async def _refresh(self) -> None:
        view = await self._page.service.attempt(self._load())
        if self._view is None:
            self._page.show_cost()
        if view == self._view:
            return
        self._view = view
        self._place.props.pop("aria-busy", None)
        self._place.clear()
        with self._place:
            if isinstance(view, Problem):
                show.problem(view)
            else:
                self._draw(view)

    async def _on_visible(self, event: object) -> None:
        """Stop when the tab is hidden; load at once when it is looked at again."""
        is_visible = bool(getattr(event, "args", True))
        was_active = self._timer.active
        self._timer.active = is_visible
        if is_visible and not was_active:
            await self.refresh()
