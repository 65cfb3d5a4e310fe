"""Plain text in 80 columns; on a terminal with colours and a progress bar."""

import os
import textwrap
from typing import TextIO

WIDTH = 80
_BAR = 40
_CLEAR_LINE = "\r\033[K"
_STYLES = {"bold": "1", "dim": "2", "green": "32", "red": "31"}


class Screen:
    """The output of the demo."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_terminal = out.isatty() and os.environ.get("TERM") != "dumb"
        self._has_colours = self._is_terminal and "NO_COLOR" not in os.environ
        self._bar = ""

    def heading(self, text: str) -> None:
        """Write the title of a section."""
        self.line()
        self.line(f"-- {text} ".ljust(WIDTH, "-"), style="bold")

    def line(self, text: str = "", *, style: str = "") -> None:
        """Write a line above the progress bar."""
        self._write((_CLEAR_LINE if self._bar else "") + self._styled(text, style) + "\n" + self._bar)

    def item(self, text: str, *, label: str = "", style: str = "", indent: int = 2) -> None:
        """Write *text* wrapped beside its *label*."""
        first = " " * indent + label
        for line in textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=" " * len(first)):
            self.line(line, style=style)

    def progress(self, done: int, total: int) -> None:
        """Show the progress, on a terminal only."""
        filled = _BAR * done // total
        if self._is_terminal:
            self._bar = f"[{'#' * filled}{'.' * (_BAR - filled)}] {done} of {total} events"
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
