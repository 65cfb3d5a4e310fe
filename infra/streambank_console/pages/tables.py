"""Tables and turned pages of lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from nicegui import ui

from streambank_console import components as show
from streambank_console.pages.dialogs import tell
from streambank_console.pages.frame import Page
from streambank_console.service import Pager
from streambank_console.views.problems import Problem

T = TypeVar("T")


def table(caption: str, columns: Sequence[str], rows: Sequence[T], draw: Callable[[T], None]) -> None:
    """Show rows; *draw* makes the cells of one, of which each is a `cell`."""
    with show.box("table", "rows"):
        show.text("caption", caption, "unseen")
        with show.box("thead"), show.box("tr"):
            for column in columns:
                show.text("th", column, scope="col")
        with show.box("tbody"):
            for row in rows:
                with show.box("tr"):
                    draw(row)


def cell(column: str, classes: str = "") -> Any:
    """Return a cell; on a narrow screen it shows the name of its column."""
    return show.box("td", classes, data_column=column)


def paged(page: Page, pager: Pager[T], draw: Callable[[Sequence[T]], None]) -> None:
    """Show the page of a list, with buttons to turn it."""

    def draw_page() -> None:
        draw(pager.rows)
        if pager.number == 0 and not pager.has_next:
            return
        with show.box("nav", "pager", aria_label="Pages of the list"):
            if pager.number:
                show.button("Previous", lambda: turn(pager.number - 1))
            show.text("span", pager.span, "muted")
            if pager.has_next:
                show.button("Next", lambda: turn(pager.number + 1))

    async def turn(number: int) -> None:
        turned = await page.service.attempt(pager.turn_to(number))
        if isinstance(turned, Problem):
            tell(f"{turned.title} {turned.cure}", is_bad=True)
        content.refresh()
        page.show_cost()

    content = ui.refreshable(draw_page)
    content()
