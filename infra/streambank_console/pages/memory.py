"""One memory: what it says, where it comes from, its history, and what can be done to it."""

from __future__ import annotations

import asyncio
from functools import partial

from streambank_client.errors import NotFound
from streambank_client.types import Memory, Revision
from streambank_console import components as show
from streambank_console.pages.dialogs import ask_text, confirm, tell
from streambank_console.pages.frame import Page, add_page
from streambank_console.pages.tables import paged
from streambank_console.service import ROWS_OF_A_PAGE, Pager, Service, first_page
from streambank_console.views.memories import MemoryView, Step, history, memory_view
from streambank_console.views.problems import Problem


def add(service: Service) -> None:
    """Serve the page."""
    add_page(service, "/banks/{bank}/memories/{memory}", "A memory", build)


async def build(page: Page) -> None:
    """Make the page."""
    name = page.path["memory"]
    memory, pager = await asyncio.gather(_memory(page, name), _revisions(page, name))
    if memory is None and pager is None:
        raise NotFound("there is no such memory")
    if memory:
        _draw(page, memory_view(page.bank_id, memory))
    else:
        show.text("h1", "A deleted memory")
        show.empty("This memory is deleted.", "Restore one of its revisions below, within 48 hours of the deletion.")
    if pager:
        with show.section("History"):
            paged(page, pager, lambda rows: _draw_history(page, history(rows)))


async def _memory(page: Page, name: str) -> Memory | None:
    try:
        return await page.bank.get_memory(memory=name)
    except NotFound:
        return None


async def _revisions(page: Page, name: str) -> Pager[Revision] | None:
    try:
        return await first_page(page.bank.list_revisions(memory=name, page_size=ROWS_OF_A_PAGE + 1))
    except NotFound:
        return None


def _draw(page: Page, one: MemoryView) -> None:
    with show.box("div", "heading"):
        show.text("h1", "A pinned memory" if one.is_pinned else "A memory")
        show.link(one.owner, one.owner_href)
    with show.box("section", "card"):
        show.quoted(one.fact, "big")
        with show.box("div", "actions"):
            if one.can_edit:
                show.button("Correct it", lambda: _edit(page, one), "primary")
            show.button("Unpin it" if one.is_pinned else "Pin it", lambda: _pin(page, one))
            show.button("Forget it", lambda: _delete(page, one), "danger")
        _draw_facts(page, one)


def _draw_facts(page: Page, one: MemoryView) -> None:
    with show.box("dl", "facts"):
        for name, value in (("Topic", ", ".join(one.topics)), ("About", one.description), ("Holds", one.holds)):
            if value:
                with show.box("div"):
                    show.text("dt", name)
                    show.text("dd", value)
        for name, value in one.metadata:
            with show.box("div"):
                show.text("dt", name)
                show.text("dd", value)
        for name, at in (("Made", one.created), ("Changed", one.updated), ("Expires", one.expires)):
            if at:
                with show.box("div"):
                    show.text("dt", name)
                    with show.box("dd"):
                        show.moment(at, page.now)
        with show.box("div"):
            show.text("dt", "Comes from")
            with show.box("dd", "sources"):
                for source in one.sources:
                    show.link(f"a window, {source.events}", source.href)
                if not one.sources:
                    show.text("span", "a call that wrote it")


def _draw_history(page: Page, steps: tuple[Step, ...]) -> None:
    with show.box("ol", "timeline"):
        for step in steps:
            with show.box("li"):
                with show.box("div", "meta"):
                    show.text("strong", step.title)
                    show.moment(step.at, page.now)
                    if step.holds:
                        show.text("span", step.holds, "muted small")
                    for name, value in step.labels:
                        show.text("span", f"{name}: {value}", "topic")
                    if step.can_restore:
                        show.button("Restore this", partial(_restore, page, step))
                show.pieces(step.pieces)
                for fact in step.extracted:
                    show.quoted(f"because of: {fact}", "muted small")


async def _edit(page: Page, one: MemoryView) -> None:
    fact = await ask_text("Correct this memory", "Fact", one.fact, "Save")
    if fact is None or fact == one.fact:
        return
    labels = {"edited_in": "console"}
    changed = page.bank.update_memory(memory=one.id, fact=fact, revision_labels=labels)
    _end(page, await page.service.attempt(changed), "The memory was corrected.")


async def _pin(page: Page, one: MemoryView) -> None:
    changed = page.bank.update_memory(memory=one.id, pinned=not one.is_pinned)
    message = "Conversations may change it again." if one.is_pinned else "No conversation changes it any more."
    _end(page, await page.service.attempt(changed), message)


async def _delete(page: Page, one: MemoryView) -> None:
    lines = [one.fact, "What was said before does not bring it back. It can be restored for 48 hours."]
    if await confirm("Forget this memory?", lines, "Forget"):
        _end(page, await page.service.attempt(page.bank.delete_memory(memory=one.id)), "The memory was forgotten.")


async def _restore(page: Page, step: Step) -> None:
    if await confirm("Restore this revision?", [step.fact], "Restore", "primary"):
        restored = page.bank.rollback_memory(memory=page.path["memory"], target_revision_id=step.id)
        _end(page, await page.service.attempt(restored), "The revision was restored.")


def _end(page: Page, result: object, message: str) -> None:
    if isinstance(result, Problem):
        tell(f"{result.title} {result.cure}", is_bad=True)
    else:
        page.done(message)
