"""The overview of a bank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from streambank_console import components as show
from streambank_console import paths
from streambank_console.pages import policies
from streambank_console.pages.dialogs import tell
from streambank_console.pages.frame import Page, add_page
from streambank_console.pages.live import LivePart
from streambank_console.pages.tables import cell, paged, table
from streambank_console.service import ROWS_OF_A_PAGE, Service, first_page
from streambank_console.views import changes, jobs, text
from streambank_console.views import overview as views
from streambank_console.views.problems import Problem

_STREAMS_SECONDS = 5.0
_WINDOWS_SECONDS = 30.0
_USAGE_SECONDS = 60.0


def add(service: Service) -> None:
    """Serve the page."""
    add_page(service, "/banks/{bank}", "Overview", build)
    add_page(service, "/banks/{bank}/streams", "Streams", build_streams)


@dataclass(frozen=True, slots=True)
class Streams:
    """The first streams of the bank, and whether there are more."""

    rows: tuple[views.StreamRow, ...]
    has_more: bool


async def build(page: Page) -> None:
    """Make the page."""
    with show.box("div", "heading"):
        show.text("h1", "Overview")
        LivePart(page, lambda: _banks(page), _draw_banks, seconds=_USAGE_SECONDS)
    with show.section("Streams"):
        LivePart(page, lambda: _streams(page), lambda view: _draw_first_streams(page, view), seconds=_STREAMS_SECONDS)
    with show.section("Windows by state, and those that wait or failed"):
        LivePart(page, lambda: _windows(page), lambda view: _draw_windows(page, view), seconds=_WINDOWS_SECONDS)
    with show.section("Changes of memories, the last hour"):
        LivePart(page, lambda: _changes(page), lambda view: _draw_changes(page, view), seconds=_WINDOWS_SECONDS)
    with show.section("Jobs of the whole bank"):
        LivePart(page, lambda: _jobs(page), lambda rows: _draw_jobs(page, rows), seconds=_WINDOWS_SECONDS)
    with show.section("Usage of models, the last 30 days"):
        LivePart(page, lambda: _usage(page), _draw_usage, seconds=_USAGE_SECONDS)
    with show.section("What is kept out, and what waits for a review"):
        LivePart(page, lambda: policies.load(page), policies.draw, seconds=_USAGE_SECONDS)
    with show.section("What the bank holds"):
        show.text("p", "Counts events, memories, tombstones and all else. This reads the whole bank.", "muted")
        counts = show.box("div", "actions")
        with counts:
            show.button("Count", lambda: _count(page, counts))


async def build_streams(page: Page) -> None:
    """Make the list of all streams."""
    show.text("h1", "Streams")
    pager = await first_page(page.bank.list_streams(page_size=ROWS_OF_A_PAGE + 1))
    with show.box("section", "card"):
        paged(page, pager, lambda rows: _draw_streams(page, [views.stream_row(page.bank_id, one) for one in rows]))


async def _banks(page: Page) -> tuple[views.BankRow, ...]:
    banks = await first_page(page.service.client.list_banks(page_size=ROWS_OF_A_PAGE + 1))
    return views.bank_rows(banks.rows, page.bank_id)


def _draw_banks(rows: tuple[views.BankRow, ...]) -> None:
    if len(rows) < 2:
        return
    with show.box("nav", "banks", aria_label="Banks"):
        for one in rows:
            current = {"aria_current": "page"} if one.is_current else {}
            show.link(text.visible(one.name), one.href, **current)


async def _streams(page: Page) -> Streams:
    page.now = await page.service.now()
    pager = await first_page(page.bank.list_streams(page_size=ROWS_OF_A_PAGE + 1))
    return Streams(tuple(views.stream_row(page.bank_id, one) for one in pager.rows), pager.has_next)


def _draw_first_streams(page: Page, view: Streams) -> None:
    _draw_streams(page, view.rows)
    if view.has_more:
        show.link("All streams", paths.streams(page.bank_id))


def _draw_streams(page: Page, rows: Sequence[views.StreamRow]) -> None:
    if not rows:
        show.empty("No events yet.", "Send some with the client, or say something yourself:")
        show.link("Try it", paths.try_it(page.bank_id, {"user_id": "ada"}), "button primary")
        return
    columns = ("Scope", "Stream", "Pending", "Next", "Newest closed window")
    table("Streams", columns, rows, lambda row: _stream_cells(page, row))


def _stream_cells(page: Page, row: views.StreamRow) -> None:
    with cell("Scope"):
        show.link(row.owner, row.owner_href, "strong")
    with cell("Stream"):
        show.text("span", row.stream)
    with cell("Pending"):
        content = text.count(row.pending, "event")
        show.link(content, row.open_href) if row.open_href else show.text("span", "none", "muted")
    with cell("Next"):
        if row.due:
            show.countdown(row.due, page.now)
    with cell("Newest closed window"):
        if row.last:
            with show.box("a", "plain", href=row.last_href, aria_label=f"The window, {row.last.text}"):
                show.badge(row.last)
        if row.failure:
            show.text("span", row.failure, "muted")


async def _windows(page: Page) -> views.WindowsView:
    first = await first_page(page.bank.list_operations(page_size=ROWS_OF_A_PAGE + 1))
    rows = [views.window_row(page.bank_id, one.name, one.metadata) for one in first.rows]
    return views.windows_view(page.bank_id, rows, has_more=first.has_next)


def _draw_windows(page: Page, view: views.WindowsView) -> None:
    with show.box("div", "counts"):
        for one in view.counts:
            with show.box("a", "plain", href=one.href):
                show.badge(one.badge)
                show.text("span", one.number)
    if view.note:
        show.text("p", view.note, "muted")
    with show.box("div", "actions"):
        show.link("All parked windows", paths.windows(page.bank_id, "PARKED"), "button")
        show.button("Redrive all parked windows", lambda: _redrive(page))
    if not view.rows:
        show.empty("None of these waits, failed or is parked.", "A window that cannot be generated would be here.")
        return
    window_table(page, view.rows)


def window_table(page: Page, rows: tuple[views.WindowRow, ...]) -> None:
    """Show windows."""
    table("Windows", ("Window", "State", "Closed because", "Facts", "Changed"), rows, lambda row: _cells(page, row))


def _cells(page: Page, row: views.WindowRow) -> None:
    with cell("Window"):
        show.link(f"Window {row.number}", row.href, "strong", title=row.id)
        show.text("span", row.events, "muted")
    with cell("State"):
        show.badge(row.state)
        if row.failure:
            show.text("span", row.failure, "muted")
    with cell("Closed because"):
        show.text("span", row.closed or "still open", "" if row.closed else "muted")
    with cell("Facts"):
        show.text("span", row.verdicts or "none", "" if row.verdicts else "muted")
    with cell("Changed"):
        if row.updated:
            show.moment(row.updated, page.now, short=True)


async def _changes(page: Page) -> changes.ChangesView:
    feed = await page.bank.list_changes(filter=changes.recent_filter(page.now), page_size=changes.MOST_ROWS + 1)
    return changes.changes_view(page.bank_id, feed.changes)


def _draw_changes(page: Page, view: changes.ChangesView) -> None:
    if not view.rows:
        show.empty("No memory was changed.", "What is made, changed or deleted appears here.")
        return
    table("Changes", ("Change", "Memory", "Scope", "When"), view.rows, lambda row: _change_cells(page, row))
    if view.has_more:
        show.text("p", "There are newer ones too: streambank changes tells them all.", "muted")


def _change_cells(page: Page, row: changes.ChangeRow) -> None:
    with cell("Change"):
        show.badge(row.kind)
        if row.source_href:
            show.link("Its way", row.source_href)
    with cell("Memory"):
        show.link(row.memory, row.memory_href) if row.memory else show.text("span", "all of the scope", "muted")
    with cell("Scope"):
        show.link(row.owner, row.owner_href) if row.owner_href else show.text("span", row.owner, "muted")
    with cell("When"):
        show.moment(row.at, page.now, short=True)


async def _jobs(page: Page) -> tuple[jobs.JobRow, ...]:
    listed = await first_page(page.bank.list_jobs())
    return tuple(jobs.job_row(one.name, one.metadata, one.error.message if one.error else "") for one in listed.rows)


def _draw_jobs(page: Page, rows: tuple[jobs.JobRow, ...]) -> None:
    if not rows:
        show.empty("No job has worked on the whole bank.", "Exports, imports, erasures and the like appear here.")
        return
    table("Jobs", ("Job", "State", "Progress", "Started"), rows, lambda row: _job_cells(page, row))


def _job_cells(page: Page, row: jobs.JobRow) -> None:
    with cell("Job"):
        show.text("span", row.title, "strong", title=row.id)
    with cell("State"):
        show.badge(row.state)
        if row.failure:
            show.text("span", row.failure, "muted")
    with cell("Progress"):
        show.text("span", row.progress or "nothing yet", "" if row.progress else "muted")
    with cell("Started"):
        if row.started:
            show.moment(row.started, page.now, short=True)


async def _redrive(page: Page) -> None:
    redriven = await page.service.attempt(page.bank.redrive_operations())
    if isinstance(redriven, Problem):
        tell(f"{redriven.title} {redriven.cure}", is_bad=True)
        return
    more = "" if redriven.is_complete else " More are parked: press it again."
    tell(f"{text.count(len(redriven.operations), 'window')} will be tried again.{more}")


async def _count(page: Page, place: Any) -> None:
    counted = await page.service.attempt(_would_erase(page))
    place.clear()
    with place:
        if isinstance(counted, Problem):
            show.problem(counted)
        elif counted:
            show.facts([(text.words_of(name), f"{number:,}") for name, number in counted.items()])
        else:
            show.text("p", "The bank is empty.")


async def _would_erase(page: Page) -> dict[str, int]:
    """Return how many items of each kind an erasure of the bank would delete, which nothing deletes here."""
    operation = await page.bank.erase(dry_run=True)
    return (await operation.result()).would_erase


async def _usage(page: Page) -> views.UsageView:
    today = page.now.date()
    first = today - timedelta(days=views.CHART_DAYS - 1)
    return views.usage_view(await page.bank.get_usage(start_date=first, end_date=today), today)


def _draw_usage(view: views.UsageView) -> None:
    if view.is_empty:
        show.empty("No model was called yet.", "Calls, tokens and cost appear here, day by day.")
        return
    with show.box("div", "charts"):
        for chart in view.charts:
            _draw_chart(chart)
    show.text("p", view.budget, "muted")


def _draw_chart(chart: views.Chart) -> None:
    with show.box("figure", "chart"):
        with show.box("figcaption"):
            show.text("span", chart.title)
            show.text("strong", chart.total)
        with show.box("ol", "bars", aria_label=f"{chart.title} by day"):
            for bar in chart.bars:
                words = f"{bar.day:%-d %b}: {bar.value}"
                with show.box("li", "" if bar.share else "none", title=words, style=f"--share: {bar.share:.4f}"):
                    show.text("span", words, "unseen")
        with show.box("div", "axis muted", aria_hidden="true"):
            show.text("span", f"{chart.bars[0].day:%-d %b}")
            show.text("span", f"{chart.bars[-1].day:%-d %b}")
