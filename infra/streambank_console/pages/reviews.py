"""The changes of a scope that wait for a decision."""

from __future__ import annotations

from functools import partial

from streambank_client.types import Review
from streambank_console import components as show
from streambank_console.pages.dialogs import confirm, tell
from streambank_console.pages.frame import Page
from streambank_console.pages.tables import paged
from streambank_console.service import ROWS_OF_A_PAGE, Pager, first_page
from streambank_console.views.problems import Problem
from streambank_console.views.reviews import ReviewView, review_views


async def reviews_of_scope(page: Page) -> Pager[Review]:
    """Return the open reviews of the page's scope."""
    return await first_page(page.bank.list_reviews(scope=page.scope, page_size=ROWS_OF_A_PAGE + 1))


def draw_reviews(page: Page, pager: Pager[Review]) -> None:
    """Draw the reviews, if there are any."""
    if pager.rows:
        with show.section("Waiting for your review"):
            paged(page, pager, lambda rows: _list(page, review_views(page.bank_id, rows)))


def _list(page: Page, views: tuple[ReviewView, ...]) -> None:
    with show.box("ol", "timeline"):
        for one in views:
            with show.box("li"):
                _draw(page, one)


def _draw(page: Page, one: ReviewView) -> None:
    with show.box("div", "meta"):
        show.text("strong", one.title)
        show.text("span", one.cause)
        show.moment(one.at, page.now)
        if one.source_href:
            show.link("where from", one.source_href)
    show.pieces(one.pieces)
    for fact, href in one.memories:
        show.link(fact, href, "muted small")
    show.quoted(f"because of: {one.stated}", "muted small")
    with show.box("div", "actions"):
        show.button("Accept", partial(_accept, page, one), "primary")
        show.button("Reject", partial(_reject, page, one))


async def _accept(page: Page, one: ReviewView) -> None:
    lines = [*(piece.text for piece in one.pieces if piece.text.strip()), *(fact for fact, _ in one.memories[1:])]
    if await confirm(f"{one.title}: accept it?", [" ".join(lines)], "Accept", "primary"):
        _end(page, await page.service.attempt(page.bank.accept_review(review=one.id)), "The change was made.")


async def _reject(page: Page, one: ReviewView) -> None:
    _end(page, await page.service.attempt(page.bank.reject_review(review=one.id)), "The change was dropped.")


def _end(page: Page, result: object, message: str) -> None:
    if isinstance(result, Problem):
        tell(f"{result.title} {result.cure}", is_bad=True)
    else:
        page.done(message)
