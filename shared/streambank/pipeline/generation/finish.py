"""What the end of a window leaves to do: the window after it is due, and the expiry of its events is restored."""

from __future__ import annotations

from datetime import datetime

from streambank.model.window import Window, WindowState
from streambank.store.streams import RetentionPolicy
from streambank.store.windows import Windows


def finish(window: Window, *, windows: Windows, now: datetime, retention_policy: RetentionPolicy) -> None:
    """Do what the end of *window* leaves to do, then take it off index `due`. Repeating it changes nothing.

    Until then the window is due, so that the sweep resumes what was interrupted. A parked window keeps the suspension
    of its events' expiry, because a redrive needs the events.
    """
    if window.is_awaited:
        windows.make_next_due(window, now)
    if window.is_expiry_suspended and window.state is WindowState.DONE:
        windows.restore_expiry(window, now=now, retention_policy=retention_policy)
    else:
        windows.disarm(window)
