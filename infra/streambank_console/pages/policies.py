"""The part of the overview with a bank's content policy and review policy."""

from __future__ import annotations

from streambank_console import components as show
from streambank_console.pages.frame import Page
from streambank_console.pages.tables import cell, table
from streambank_console.views import policies as views


async def load(page: Page) -> views.PoliciesView:
    """Return the policies of the bank."""
    return views.policies_view(await page.bank.get())


def draw(view: views.PoliciesView) -> None:
    """Show the rules as a table, and what waits for a review."""
    if view.rules:
        table("Rules of the content policy", ("Rule", "Finds", "Action"), view.rules, _cells)
    else:
        show.empty("The bank has no content policy.", "All that is said may be stored.")
    show.text("p", view.reviews)


def _cells(row: views.RuleRow) -> None:
    with cell("Rule"):
        show.text("span", row.name, "strong")
    with cell("Finds"):
        show.text("code", row.pattern) if row.pattern else show.text("span", row.detector)
    with cell("Action"):
        show.badge(row.action)
