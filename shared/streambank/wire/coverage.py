"""The coverage of a window in replies."""

from typing import NotRequired

from typing_extensions import TypedDict

from streambank.model.window import Window
from streambank.wire.reply import without_nulls


class Coverage(TypedDict):
    """Events of the window, how many of them the model was shown, and how many it was not, by the reason."""

    events: int
    covered: int
    notCovered: NotRequired[dict[str, int] | None]


def coverage(window: Window) -> Coverage | None:
    """Return the coverage of a window, or None for one that is not generated."""
    outcome = window.outcome
    if not outcome:
        return None
    not_covered = outcome.get("not_covered") or None
    return without_nulls(Coverage(events=window.count, covered=outcome["covered"], notCovered=not_covered))
