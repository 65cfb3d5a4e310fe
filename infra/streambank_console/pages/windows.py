"""The windows of a bank, by state; and the way of an event through one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streambank_client import AsyncOperation
from streambank_client.errors import NotFound
from streambank_client.types import Revision, WindowDetail, WindowResponse
from streambank_console import components as show
from streambank_console import paths
from streambank_console.pages import overview
from streambank_console.pages.dialogs import tell
from streambank_console.pages.frame import Page, add_page
from streambank_console.pages.replay import replay
from streambank_console.pages.tables import paged
from streambank_console.pages.way import draw
from streambank_console.service import ROWS_OF_A_PAGE, Service, first_page, together
from streambank_console.views import labels
from streambank_console.views import overview as list_views
from streambank_console.views import way as views
from streambank_console.views.problems import Problem


def add(service: Service) -> None:
    """Serve the pages."""
    add_page(service, "/banks/{bank}/windows", "Windows", build_list)
    add_page(service, "/banks/{bank}/windows/{operation}", "The way of a window", build_window)
    add_page(service, "/banks/{bank}/event", "The way of an event", build_event)


async def build_list(page: Page) -> None:
    """Make the list of windows."""
    state = page.query.get("state", "")
    show.text("h1", "Windows")
    with show.box("nav", "tabs", aria_label="States"):
        for one in ("", *labels.STATES):
            current = {"aria_current": "page"} if one == state else {}
            show.link(labels.state(one).text if one else "all", paths.windows(page.bank_id, one), **current)
    operations = page.bank.list_operations(filter=f'state="{state}"' if state else None, page_size=ROWS_OF_A_PAGE + 1)
    pager = await first_page(operations)
    with show.box("section", "card"):
        if not pager.rows:
            show.empty("There is no such window.", "Choose another state, or send events.")
            return
        paged(page, pager, lambda rows: overview.window_table(page, _rows(page, rows)))


def _rows(page: Page, operations: Sequence[AsyncOperation[WindowResponse]]) -> tuple[list_views.WindowRow, ...]:
    return tuple(list_views.window_row(page.bank_id, one.name, one.metadata) for one in operations)


async def build_window(page: Page) -> None:
    """Make the page of a window."""
    number = page.query.get("event", "")
    focus = views.Focus(int(number) if number.isdecimal() else None, page.query.get("memory", ""))
    await _show_way(page, page.path["operation"], focus)


async def build_event(page: Page) -> None:
    """Make the page of an event: that of its window."""
    event_id = page.query.get("id", "")
    if not (page.scope and event_id):
        raise ValueError("The address needs a scope and the id of an event.")
    [status] = await page.bank.find_events(
        scope=page.scope, stream_id=page.query.get("stream") or None, event_ids=[event_id]
    )
    if not status.operation:
        show.text("h1", "The way of an event")
        show.empty("The stream does not know this event.", "It was never accepted, or its id is kept no longer.")
        return
    if status.forgotten:
        show.empty("This event was forgotten.", "A memory that was deleted cited it, so its words are shown nowhere.")
    await _show_way(page, status.operation, views.Focus(status.sequence))


async def _show_way(page: Page, operation: str, focus: views.Focus) -> None:
    full = await page.bank.get_operation(operation=operation, view="FULL")
    detail, response = full.detail or WindowDetail(), await _response(page, full)
    touched = list(views.touched(detail, response).items())
    revisions = await together(*(_revisions(page, name) for name, _ in touched[: views.MOST_MEMORIES]))
    changes = [
        views.memory_change(page.bank_id, name, verdict, previous, history, focus)
        for (name, (verdict, previous)), history in zip(touched, revisions, strict=False)
    ]
    way = views.way(page.bank_id, full.metadata, detail, changes, focus)
    draw(
        page,
        way,
        len(touched) - len(changes),
        redrive=lambda: _redrive(page, operation),
        replay=lambda: replay(page, operation),
    )


async def _response(page: Page, operation: AsyncOperation[Any]) -> WindowResponse:
    """Return the verdicts of the window's generation, empty where it has not ended."""
    generation = operation.metadata.generate_memories_operation
    ended = await page.bank.get_operation(operation=generation) if generation and operation.done else operation
    return WindowResponse.from_reply(ended.response or {})


async def _revisions(page: Page, memory: str) -> list[Revision] | None:
    """Return the newest hundred revisions of a memory, or None where it is gone."""
    try:
        pager = await first_page(page.bank.list_revisions(memory=memory, page_size=101), size=100)
    except NotFound:
        return None
    return pager.rows


async def _redrive(page: Page, operation: str) -> None:
    redriven = await page.service.attempt(page.bank.redrive_operation(operation=operation))
    if isinstance(redriven, Problem):
        tell(f"{redriven.title} {redriven.cure}", is_bad=True)
    else:
        tell("The window will be tried again. Load the page again to see how it went.")
