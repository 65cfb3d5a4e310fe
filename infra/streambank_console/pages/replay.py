"""Judging a window again, and both answers side by side."""

from __future__ import annotations

from nicegui import ui

from streambank_client import AsyncOperation
from streambank_client.types import ReplayResponse
from streambank_console import components as show
from streambank_console.pages.dialogs import ask_text, tell
from streambank_console.pages.frame import Page
from streambank_console.pages.tables import cell, table
from streambank_console.views import replay as views
from streambank_console.views.problems import Problem

# A model may be asked twice, for a minute each.
_WAIT_SECONDS = 180


async def replay(page: Page, operation: str) -> None:
    """Ask for a model, replay the window, and show both answers; no memory changes."""
    model = await ask_text("Replay this window", "Model; nothing is the bank's own", "", "Replay", allows_empty=True)
    if model is None:
        return
    begun = await page.service.attempt(page.bank.replay_operation(operation=operation, model=model or None))
    if isinstance(begun, Problem):
        tell(f"{begun.title} {begun.cure}", is_bad=True)
        return
    tell("The window is judged again. Both answers appear here.")
    done = await page.service.attempt(_result(begun))
    if isinstance(done, Problem):
        tell(f"{done.title} {done.cure}", is_bad=True)
    else:
        await _show(views.compared(done))


async def _result(begun: AsyncOperation[ReplayResponse]) -> ReplayResponse:
    return await begun.result(timeout_seconds=_WAIT_SECONDS)


async def _show(one: views.Compared) -> None:
    with ui.dialog() as dialog, show.box("div", "dialog"):
        dialog.props["aria-label"] = "Recorded and replayed"
        show.text("h2", "Recorded and replayed")
        table("Verdicts of both answers", ("Recorded", "Replayed"), one.rows, _row)
        show.facts(one.costs)
        for note in one.notes:
            show.text("p", note, "muted")
        with show.box("div", "actions"):
            show.button("Close", dialog.close)
    await dialog
    dialog.delete()


def _row(row: views.ComparedRow) -> None:
    for column, side in (("Recorded", row.recorded), ("Replayed", row.replayed)):
        with cell(column):
            if side is None:
                show.text("span", "nothing", "muted")
                continue
            show.badge(side.badge)
            show.quoted(side.text)
            if side.reason:
                show.quoted(side.reason, "reason")
