"""Log lines on standard error, without texts of memories, conversations or callers."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

OWN = "streambank_client.mcp"


class TextlessFormatter(logging.Formatter):
    """Writes our own lines; of another library's the place alone, since its messages may quote what was received."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line, without the message and the traceback of an error."""
        message = record.getMessage() if record.name.startswith(OWN) else f"{record.name}:{record.lineno}"
        kind = record.exc_info[0] if record.exc_info else None
        failure = f" error={kind.__name__}" if kind else ""
        return f"{self.formatTime(record)} {record.levelname} {message}{failure}"


def configure(stream: TextIO | None = None) -> None:
    """Send the lines of all loggers to standard error, those of other libraries from WARNING on."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(TextlessFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger(OWN).setLevel(logging.INFO)
