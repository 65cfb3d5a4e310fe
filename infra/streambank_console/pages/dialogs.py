"""Questions before something is changed."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui

from streambank_console import components as show


async def confirm(title: str, lines: Sequence[str], label: str, kind: str = "danger") -> bool:
    """Show what will happen, and return whether the reader wants it."""
    with ui.dialog() as dialog, show.box("div", "dialog"):
        dialog.props["aria-label"] = title
        show.text("h2", title)
        for line in lines:
            show.quoted(line)
        with show.box("div", "actions"):
            show.button("Cancel", lambda: dialog.submit(False))
            show.button(label, lambda: dialog.submit(True), kind)
    is_confirmed = await dialog
    dialog.delete()
    return bool(is_confirmed)


async def ask_text(title: str, label: str, value: str, action: str, *, allows_empty: bool = False) -> str | None:
    """Return the text that the reader enters in place of *value*, or None."""
    with ui.dialog() as dialog, show.box("div", "dialog"):
        dialog.props["aria-label"] = title
        show.text("h2", title)
        field = ui.textarea(label, value=value).props("outlined autogrow autofocus").classes("field")
        with show.box("div", "actions"):
            show.button("Cancel", lambda: dialog.submit(None))
            show.button(action, lambda: dialog.submit(field.value), "primary")
    entered = await dialog
    dialog.delete()
    if not isinstance(entered, str):
        return None
    return entered.strip() if allows_empty else entered.strip() or None


def tell(message: str, *, is_bad: bool = False) -> None:
    """Show a message for a while."""
    ui.notify(message, position="bottom", classes=f"note {'bad' if is_bad else ''}", timeout=6000)
