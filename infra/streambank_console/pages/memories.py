"""Lists of memories: of a bank, and of a scope with what can be done to it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from nicegui import ui
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from streambank_client.types import Erased, Memory, Moved
from streambank_console import components as show
from streambank_console import paths
from streambank_console.pages.dialogs import ask_text, confirm, tell
from streambank_console.pages.frame import Page, add_page
from streambank_console.pages.reviews import draw_reviews, reviews_of_scope
from streambank_console.pages.tables import paged
from streambank_console.service import ROWS_OF_A_PAGE, Service, first_page, together
from streambank_console.views import labels, text
from streambank_console.views.memories import MemoryView, memory_view
from streambank_console.views.problems import Problem
from streambank_console.views.scopes import as_filter, read_typed_scope

MOST_FORGOTTEN = 100
_LISTED = 8


def add(service: Service) -> None:
    """Serve the pages."""
    add_page(service, "/banks/{bank}/memories", "Memories", build_bank)
    add_page(service, "/banks/{bank}/scope", "A scope", build_scope)
    ui.page("/banks/{bank}/open")(open_scope)


async def open_scope(request: Request) -> Response:
    """Lead from what was typed to the address of its scope."""
    bank = request.path_params["bank"]
    try:
        scope = read_typed_scope(request.query_params.get("who", ""))
    except ValueError:
        return RedirectResponse(paths.memories(bank))
    return RedirectResponse(paths.scope(bank, scope))


async def build_bank(page: Page) -> None:
    """Make the list of all memories."""
    typed = page.query.get("filter", "")
    show.text("h1", "Memories of all scopes")
    _filter_form(page, paths.memories(page.bank_id), typed)
    listed = page.bank.list_memories(filter=as_filter(typed), page_size=ROWS_OF_A_PAGE + 1)
    pager = await first_page(listed)
    with show.box("section", "card"):
        if not pager.rows:
            show.empty("No memory.", "Try another filter, or say something worth remembering.")
            show.link("Try it", paths.try_it(page.bank_id, {"user_id": "ada"}), "button primary")
            return
        paged(page, pager, lambda rows: _list(page, rows, with_owner=True))


async def build_scope(page: Page) -> None:
    """Make the page of a scope."""
    if not page.scope:
        show.text("h1", "A scope")
        show.empty("No scope is chosen.", "Type one at the top, such as user_id=ada.")
        return
    typed = page.query.get("filter", "")
    with show.box("div", "heading"):
        show.text("h1", text.scope_label(page.scope))
        show.link("Search", paths.search(page.bank_id, page.scope), "button")
        show.link("Try it", paths.try_it(page.bank_id, page.scope), "button")
    _filter_form(page, paths.scope(page.bank_id, page.scope), typed)
    listed = page.bank.retrieve_all_memories(scope=page.scope, filter=as_filter(typed), page_size=ROWS_OF_A_PAGE + 1)
    pager, waiting = await asyncio.gather(first_page(listed), reviews_of_scope(page))
    draw_reviews(page, waiting)
    with show.section("Memories"):
        with show.box("div", "actions"):
            show.button("Add a memory", lambda: _add(page))
        if pager.rows:
            paged(page, pager, lambda rows: _list(page, [one.memory for one in rows], with_owner=False))
        else:
            show.empty(
                "Nothing is remembered here.",
                "Try another filter." if typed else "Say something, close the window, and look again.",
            )
    await _learning(page)
    _removal(page)


def _filter_form(page: Page, address: str, typed: str) -> None:
    with show.box("form", "filter", action=address.partition("?")[0], method="get"):
        for key, value in paths.scope_fields(page.scope).items():
            show.box("input", "", type_="hidden", name=key, value=value)
        show.box(
            "input",
            "",
            name="filter",
            value=typed,
            aria_label="Words in the fact, or a filter",
            placeholder='words of the fact, or a filter such as update_time > "2026-01-01T00:00:00Z"',
        )
        show.text("button", "Filter", "button", type_="submit")


def _list(page: Page, memories: Sequence[Memory], *, with_owner: bool) -> None:
    with show.box("ul", "memories"):
        for one in memories:
            _row(page, memory_view(page.bank_id, one), with_owner=with_owner)


def _row(page: Page, one: MemoryView, *, with_owner: bool) -> None:
    with show.box("li"):
        with show.box("a", "fact", href=one.href):
            show.quoted(one.fact, tag="span")
        with show.box("div", "meta"):
            if with_owner:
                show.link(one.owner, one.owner_href)
            if one.is_pinned:
                show.text("span", "pinned", "topic")
            for topic in one.topics:
                show.text("span", topic, "topic")
            for name, value in one.metadata:
                show.text("span", f"{name}: {value}", "topic")
            show.moment(one.updated, page.now)
            if one.sources:
                show.link(f"where from: {one.sources[0].events}", one.sources[0].href)


async def _add(page: Page) -> None:
    fact = await ask_text("Add a memory", "Fact", "", "Add")
    if fact is None:
        return
    made = await page.service.attempt(page.bank.create_memory(scope=page.scope, fact=fact))
    _end(page, made, "The memory was added.")


def _end(page: Page, result: object, message: str) -> None:
    """Say how it went, and load the page again where it went well."""
    if isinstance(result, Problem):
        tell(f"{result.title} {result.cure}", is_bad=True)
    else:
        page.done(message)


async def _learning(page: Page) -> None:
    """Show whether anything is learnt about the scope, and what changes that; a key may not be allowed to know it."""
    consent = await page.service.attempt(page.bank.get_consent(scope=page.scope))
    if isinstance(consent, Problem):
        return
    is_learning = consent.learning == "ENABLED"
    with show.section("Learning"):
        show.text("p", labels.learning(consent.learning))
        if is_learning:
            show.button("Learn nothing from now on", lambda: _set_learning(page, "DISABLED"))
        else:
            show.button("Learn again", lambda: _set_learning(page, "ENABLED"))


async def _set_learning(page: Page, learning: str) -> None:
    result = await page.service.attempt(page.bank.update_consent(scope=page.scope, learning=learning))
    _end(page, result, labels.learning(learning))


def _removal(page: Page) -> None:
    with show.section("Remove or move"), show.box("div", "choices"):
        with show.box("div"):
            show.text("h3", "Forget")
            show.text(
                "p",
                "Deletes memories that contain a word. What was said before does not bring them back. Each can be "
                "restored for 48 hours.",
            )
            field = ui.input("A word of the memories").props("outlined dense").classes("field")
            show.button("Show what would be forgotten", lambda: _forget(page, str(field.value or "")))
        with show.box("div"):
            show.text("h3", "Erase")
            show.text("p", "Deletes every event and every memory of this scope for good. Nothing brings them back.")
            show.button("Count what would be erased", lambda: _erase(page))
        with show.box("div"):
            show.text("h3", "Move")
            show.text(
                "p", "Gives all events and memories of this scope to another scope, for example to a new user id."
            )
            other = ui.input("The other scope, like user_id=ada").props("outlined dense").classes("field")
            show.button("Count what would be moved", lambda: _move(page, str(other.value or "")))


async def _forget(page: Page, typed: str) -> None:
    text_filter = as_filter(typed)
    if text_filter is None:
        tell("Type a word first.", is_bad=True)
        return
    listed = page.bank.retrieve_all_memories(scope=page.scope, filter=text_filter, page_size=MOST_FORGOTTEN)
    matches = await page.service.attempt(first_page(listed, MOST_FORGOTTEN))
    if isinstance(matches, Problem):
        tell(f"{matches.title} {matches.cure}", is_bad=True)
        return
    memories = [one.memory for one in matches.rows]
    if not memories:
        tell("No memory contains that.")
        return
    lines = [memory_view(page.bank_id, one).fact for one in memories[:_LISTED]]
    lines += [f"and {len(memories) - _LISTED} more"] if len(memories) > _LISTED else []
    title = f"Forget {text.count(len(memories), 'memory', 'memories')}?"
    if await confirm(title, lines, "Forget"):
        deletions = together(*(_delete(page, one) for one in memories))
        forgotten = text.count(len(memories), "memory was", "memories were")
        _end(page, await page.service.attempt(deletions), f"{forgotten} forgotten.")


async def _delete(page: Page, memory: Memory) -> None:
    await page.bank.delete_memory(memory=memory.name)


async def _erase(page: Page) -> None:
    counted = await page.service.attempt(_erased(page, dry_run=True))
    if isinstance(counted, Problem):
        tell(f"{counted.title} {counted.cure}", is_bad=True)
        return
    lines = [f"{number:,} {text.words_of(name)}" for name, number in counted.would_erase.items() if number]
    if not lines:
        tell("There is nothing to erase.")
        return
    if await confirm("Erase this for good?", lines, "Erase for good"):
        _end(page, await page.service.attempt(_erased(page, dry_run=False)), "The scope is erased.")


async def _move(page: Page, typed: str) -> None:
    try:
        target = read_typed_scope(typed)
    except ValueError as refusal:
        tell(str(refusal), is_bad=True)
        return
    counted = await page.service.attempt(_moved(page, target, dry_run=True))
    if isinstance(counted, Problem):
        tell(f"{counted.title} {counted.cure}", is_bad=True)
        return
    lines = [f"{number:,} {text.words_of(name)}" for name, number in counted.would_move.items() if number]
    if not lines:
        tell("There is nothing to move.")
    elif await confirm("Move this to the other scope?", lines, "Move"):
        _end(page, await page.service.attempt(_moved(page, target, dry_run=False)), "The scope is moved.")


async def _moved(page: Page, target: dict[str, str], *, dry_run: bool) -> Moved:
    operation = await page.bank.move_scope(scope=page.scope, target_scope=target, dry_run=dry_run)
    return await operation.result()


async def _erased(page: Page, *, dry_run: bool) -> Erased:
    operation = await page.bank.erase_scope(scope=page.scope, dry_run=dry_run)
    return await operation.result(timeout_seconds=600)
