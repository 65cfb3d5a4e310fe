"""The picture of a window's way: turns, facts, memories, and the lines between them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from streambank_console import components as show
from streambank_console.pages.frame import Page
from streambank_console.views import text
from streambank_console.views.way import CandidateRow, MemoryChange, Turn, Way

Act = Callable[[], Awaitable[None]]


def draw(page: Page, way: Way, more_memories: int, *, redrive: Act, replay: Act) -> None:
    """Show the way of a window, with what can be done with it."""
    with show.box("div", "heading"):
        show.text("h1", f"The way of window {way.number}")
        show.badge(way.state)
        if way.can_redrive:
            show.button("Redrive", redrive, "primary")
        if way.can_replay:
            show.button("Replay", replay, title="Judge the window again; no memory changes.")
    _strip(page, way)
    with show.box("div", "way"):
        with show.box("section", "lane", aria_label="What was said"):
            show.text("h2", f"1. Said: {text.count(len(way.turns), 'event')}")
            for turn in way.turns:
                _turn(page, turn)
            if not way.turns:
                show.empty("No event is shown.", "They have expired, or were erased or forgotten.")
        with show.box("section", "lane", aria_label="What the model proposed"):
            show.text("h2", f"2. Proposed: {text.count(len(way.candidates), 'fact')}")
            for candidate in way.candidates:
                _candidate(candidate)
            if not way.candidates:
                show.empty("No fact yet.", _no_facts(way))
        with show.box("section", "lane", aria_label="What is remembered"):
            show.text("h2", f"3. Remembered: {text.count(len(way.memories), 'memory', 'memories')}")
            for change in way.memories:
                _change(change)
            if not way.memories:
                show.empty("No memory was touched.", "The facts say why.")
            if more_memories:
                show.text("p", f"{more_memories:,} more memories were touched.", "muted")


def _no_facts(way: Way) -> str:
    if way.state.text == "done":
        return "The model found nothing in these events that is worth keeping."
    return "They appear when the window is closed and its memories are made. Load the page again then."


def _strip(page: Page, way: Way) -> None:
    with show.section("What happened"):
        if way.owner_href:
            with show.box("p"):
                show.text("span", f"Stream {text.visible(way.stream)} of ")
                show.link(way.owner, way.owner_href)
        with show.box("p"):
            show.text("span", "The window was closed because " if way.state.text != "open" else "The window is open. ")
            if way.state.text != "open":
                show.text("span", f"{way.closed}.")
            if way.due:
                show.countdown(way.due, page.now)
        if way.failure:
            show.text("p", f"The generation failed: {way.failure}.", "bad")
        show.facts(way.facts)
        for note in way.notes:
            show.text("p", note, "muted")
        if way.offered:
            with show.box("details"):
                show.text("summary", f"The model was also given {text.count(len(way.offered), 'memory', 'memories')}")
                with show.box("ul", "plain-list"):
                    for name, href in way.offered:
                        with show.box("li"):
                            show.link(name, href)


def _turn(page: Page, one: Turn) -> None:
    with show.box("article", f"node {'focus' if one.focus else ''}", data_node=f"t{one.sequence}"):
        with show.box("div", "meta"):
            show.text("strong", one.role)
            show.moment(one.at, page.now)
        show.quoted(one.text)
        if one.omission:
            show.text("p", f"The model was not shown it: {one.omission}.", "muted")
        if one.policy:
            show.text("p", f"The content policy found {one.policy}.", "muted")
        if one.event_id:
            show.text("p", f"id {one.event_id}", "muted small")


def _candidate(one: CandidateRow) -> None:
    starts = " ".join(f"t{sequence}" for sequence in one.cites)
    focus = "focus" if one.focus else ""
    with show.box("article", f"node {focus}", data_node=f"c{one.number}", data_from=starts):
        with show.box("div", "meta"):
            for verdict in one.verdicts:
                show.badge(verdict.badge)
            if one.change:
                show.text("span", one.change, "muted")
        show.quoted(one.fact)
        if one.text:
            show.quoted(f"to say: {one.text}", "muted")
        for verdict in one.verdicts:
            if verdict.reason:
                show.quoted(verdict.reason, "reason")
        if one.cites:
            show.text("p", "cites " + ", ".join(f"event {number}" for number in one.cites), "muted small")


def _change(one: MemoryChange) -> None:
    starts = " ".join(f"c{number}" for number in one.candidates)
    focus = "focus" if one.focus else ""
    with show.box("article", f"node {focus}", data_node=f"m{one.id}", data_from=starts):
        with show.box("div", "meta"):
            show.badge(one.action)
            show.link("Open the memory", one.href)
        if one.pieces:
            show.pieces(one.pieces)
        if one.note:
            show.text("p", one.note, "muted small")
