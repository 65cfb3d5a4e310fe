"""The elements that pages are made of. Texts are texts: no markup is ever made of one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from streambank_console.views import text as views
from streambank_console.views.diff import ADDED, REMOVED, Piece
from streambank_console.views.labels import Badge
from streambank_console.views.overview import Due
from streambank_console.views.problems import Problem

_TAGS = {ADDED: "ins", REMOVED: "del"}


def box(tag: str = "div", classes: str = "", **attributes: str) -> Any:
    """Return an element that holds others."""
    return _dressed(ui.element(tag), classes, attributes)


def text(tag: str, content: str, classes: str = "", **attributes: str) -> Any:
    """Return an element with a text; an underscore of an attribute is a hyphen."""
    return _dressed(TextElement(tag=tag, text=content), classes, attributes)


def _dressed(element: Any, classes: str, attributes: dict[str, str]) -> Any:
    if classes:
        element.classes(classes)
    for name, value in attributes.items():
        element.props[name.rstrip("_").replace("_", "-")] = value
    return element


def quoted(content: str, classes: str = "", tag: str = "p") -> Any:
    """Return a text that a person or a model wrote: its direction is its own, and ends with it."""
    return text(tag, content, f"said {classes}".strip(), dir="auto")


def link(content: str, href: str, classes: str = "", **attributes: str) -> Any:
    """Return a link to a page of the console."""
    return text("a", content, classes, href=href, **attributes)


def button(label: str, act: Callable[[], Awaitable[None] | None], kind: str = "", **attributes: str) -> Any:
    """Return a button; *kind* is `primary`, `danger` or none."""
    return text("button", label, f"button {kind}".strip(), type_="button", **attributes).on("click", act)


def badge(one: Badge) -> Any:
    """Return a badge, with its meaning as a hint."""
    return text("span", one.text, f"badge {one.tone}", title=one.meaning)


def moment(at: datetime, now: datetime, *, short: bool = False) -> None:
    """Show a time with its zone, and how long ago it is."""
    one = views.moment(at, now)
    since = str(int(at.timestamp() * 1000))
    with box("span", "moment"):
        if short:
            text("time", one.relative, datetime=one.exact, title=one.text, data_since=since)
            return
        text("time", one.text, datetime=one.exact)
        text("span", one.relative, "muted", data_since=since)


def countdown(due: Due, now: datetime) -> None:
    """Show what happens next, with a countdown."""
    at = views.moment(due.at, now)
    with box("span", "countdown"):
        text("span", due.name)
        text(
            "time", at.relative, "time", datetime=at.exact, title=at.text, data_due=str(int(due.at.timestamp() * 1000))
        )
        if due.remaining:
            text("span", due.remaining, "muted")


def pieces(parts: Sequence[Piece], classes: str = "") -> None:
    """Show what changed in a text."""
    with box("p", f"said {classes}".strip(), dir="auto"):
        for one in parts:
            text(_TAGS.get(one.kind, "span"), one.text)


def facts(rows: Sequence[tuple[str, str]]) -> None:
    """Show names with their values."""
    if not rows:
        return
    with box("dl", "facts"):
        for name, value in rows:
            with box("div"):
                text("dt", name)
                text("dd", value)


def empty(title: str, cure: str) -> None:
    """Show that there is nothing, and what to do next."""
    with box("div", "empty"):
        text("p", title, "title")
        text("p", cure, "muted")


def problem(one: Problem) -> None:
    """Show what went wrong, and what to do."""
    with box("div", "problem", role="alert"):
        text("p", one.title, "title")
        text("p", one.cure)


def section(title: str, classes: str = "", *, level: int = 2) -> Any:
    """Return a section with its heading; it holds what follows."""
    made = box("section", f"card {classes}".strip())
    with made:
        text(f"h{level}", title)
    return made
