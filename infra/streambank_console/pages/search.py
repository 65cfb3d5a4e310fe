"""Search: a query, and how its ranking came about."""

from __future__ import annotations

from streambank_console import components as show
from streambank_console import paths
from streambank_console.pages.frame import Page, add_page
from streambank_console.pages.tables import cell, table
from streambank_console.service import Service
from streambank_console.views import search as views
from streambank_console.views import text
from streambank_console.views.scopes import as_filter

_TOP = 20


def add(service: Service) -> None:
    """Serve the page."""
    add_page(service, "/banks/{bank}/search", "Search", build)


async def build(page: Page) -> None:
    """Make the page."""
    show.text("h1", "Search")
    if not page.scope:
        show.empty("No scope is chosen.", "Type one at the top, such as user_id=ada, and come back.")
        return
    query, typed = page.query.get("q", "").strip(), page.query.get("filter", "")
    has_events = page.query.get("events", "pending")
    _form(page, query, typed, has_events)
    if not query:
        show.empty("Ask for something.", "For example: What must I not cook?")
        return
    reply = await page.bank.retrieve_memories(
        scope=page.scope,
        query=query,
        top_k=_TOP,
        filter=as_filter(typed),
        include_events=has_events == "all",
        include_pending=has_events in ("all", "pending"),
        explain=True,
    )
    hits = views.results(page.bank_id, page.scope, reply)
    with show.section(f"Nearest first: {views.counts(hits)}"):
        if not hits:
            show.empty("Nothing was recalled.", "This scope has no memory that the filter lets through.")
            return
        table("Hits", ("Rank", "Text", "Why", "Changed"), hits, lambda one: _cells(page, one))
        if reply.events_looked_at:
            searched = text.count(reply.events_looked_at, "event")
            show.text(
                "p", f"The scope has more events than a search reads: the newest {searched} were looked at.", "muted"
            )
        if reply.memories_looked_at:
            searched = text.count(reply.memories_looked_at, "memory", "memories")
            show.text("p", f"The scope is large: {searched} were compared with the filter, not all.", "muted")


def _form(page: Page, query: str, typed: str, has_events: str) -> None:
    with show.box("form", "filter", action=paths.search(page.bank_id, {}), method="get"):
        for key, value in paths.scope_fields(page.scope).items():
            show.box("input", "", type_="hidden", name=key, value=value)
        show.box("input", "", name="q", value=query, aria_label="Query", placeholder="What must I not cook?")
        show.box("input", "", name="filter", value=typed, aria_label="Filter of memories", placeholder="filter")
        with show.box("select", "", name="events", aria_label="Events"):
            for value, label in (
                ("pending", "and pending events"),
                ("all", "and all events"),
                ("none", "memories only"),
            ):
                chosen = {"selected": "selected"} if value == has_events else {}
                show.text("option", label, value=value, **chosen)
        show.text("button", "Search", "button primary", type_="submit")


def _cells(page: Page, one: views.Result) -> None:
    with cell("Rank"):
        show.text("strong", str(one.rank))
    with cell("Text"):
        if one.href:
            with show.box("a", "fact", href=one.href):
                show.quoted(one.text, tag="span")
        else:
            show.quoted(one.text, tag="span")
        with show.box("div", "meta"):
            for topic in (one.kind, *one.topics):
                show.text("span", topic, "topic")
    with cell("Why"):
        if one.ranking:
            _ranking(one.ranking)
        show.text("p", f"distance {one.distance:.2f}", "muted small")
    with cell("Changed"):
        if one.at:
            show.moment(one.at, page.now, short=True)


def _ranking(one: views.Ranking) -> None:
    with show.box("dl", "parts"):
        for part in one.parts:
            with show.box("div"):
                show.text("dt", part.name)
                with show.box("dd"):
                    show.box("div", "meter", style=f"--share: {part.share:.4f}", aria_hidden="true")
                    show.text("span", part.words)
    if one.words:
        show.text("p", f"in common: {', '.join(one.words)}", "small")
    if one.turns:
        with show.box("p", "small"):
            show.text("span", "matched turn: ")
            with show.box("a", "", href=one.turns_href):
                show.quoted(one.turns, tag="span")
