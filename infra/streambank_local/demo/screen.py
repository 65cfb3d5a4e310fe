"""Plain text, as wide as the terminal; on a terminal with colours and a progress bar."""

import os
import shutil
import textwrap
from collections.abc import Sequence
from itertools import zip_longest
from typing import TextIO

WIDTH = 80
# Longer lines are hard to read.
MAX_WIDTH = 100
# Columns side by side need so much; below that each cell is a line of its own.
_TABLE_WIDTH = 60
_GAP = 2
_BAR = 40
_CLEAR_LINE = "\r\033[K"
_STYLES = {"bold": "1", "dim": "2"}


class Screen:
    """The output of the demo."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_terminal = out.isatty() and os.environ.get("TERM") != "dumb"
        self._has_colours = self._is_terminal and "NO_COLOR" not in os.environ
        self._width = min(shutil.get_terminal_size((WIDTH, 24)).columns, MAX_WIDTH) if out.isatty() else WIDTH
        self._bar = ""

    def heading(self, text: str) -> None:
        """Write the title of a section."""
        self.line()
        self.item(f"-- {text} ".ljust(self._width, "-"), indent=0, style="bold")

    def line(self, text: str = "", *, style: str = "") -> None:
        """Write a line above the progress bar."""
        self._write((_CLEAR_LINE if self._bar else "") + self._styled(text, style) + "\n" + self._bar)

    def item(self, text: str, *, label: str = "", style: str = "", indent: int = 2) -> None:
        """Write *text* wrapped beside its *label*."""
        first = " " * indent + label
        for line in textwrap.wrap(text, self._width, initial_indent=first, subsequent_indent=" " * len(first)):
            self.line(line, style=style)

    def table(self, titles: Sequence[str], rows: Sequence[Sequence[str]], columns: Sequence[int]) -> None:
        """Write *rows* under *titles*; *columns* holds the width of each column where the screen has 80 characters."""
        if self._width < _TABLE_WIDTH:
            for row in rows:
                for title, cell in zip(titles, row, strict=True):
                    self.item(f"{title}: {cell}", indent=0)
                self.line()
            return
        room = self._width - _GAP * (len(columns) - 1)
        widths = [column * room // sum(columns) for column in columns]
        self._row(titles, widths, style="dim")
        for row in rows:
            self._row(row, widths)

    def _row(self, cells: Sequence[str], widths: Sequence[int], *, style: str = "") -> None:
        wrapped = [textwrap.wrap(cell, width) for cell, width in zip(cells, widths, strict=True)]
        for parts in zip_longest(*wrapped, fillvalue=""):
            padded = (part.ljust(width) for part, width in zip(parts, widths, strict=True))
            self.line((" " * _GAP).join(padded).rstrip(), style=style)

    def progress(self, done: int, total: int) -> None:
        """Show the progress, on a terminal only."""
        filled = _BAR * done // total
        bar = f"[{'#' * filled}{'.' * (_BAR - filled)}] {done} of {total} events"
        # A longer line would wrap, and its first half could not be removed.
        if self._is_terminal and len(bar) < self._width:
            self._bar = bar
            self._write(_CLEAR_LINE + self._bar)

    def end_progress(self) -> None:
        """Remove the progress bar."""
        if self._bar:
            self._bar = ""
            self._write(_CLEAR_LINE)

    def _styled(self, text: str, style: str) -> str:
        return f"\033[{_STYLES[style]}m{text}\033[0m" if style and self._has_colours else text

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
