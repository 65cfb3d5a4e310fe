"""Standard input as lines that an event loop waits for, and stops waiting for."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError

_READ_BYTES = 65_536
# Lines that were read and not yet taken.
_MOST_LINES = 64


class StdinLines:
    """The lines of a file descriptor; iteration ends with the input, and can be cancelled while it waits.

    A daemon thread reads the descriptor without a buffer of Python's, so that a read that never returns keeps neither
    the loop nor the process from ending.
    """

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._lines = asyncio.Queue[bytes | None](_MOST_LINES)

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield each line as text; bytes that are no UTF-8 are replaced."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), name="stdin", daemon=True).start()
        while (line := await self._lines.get()) is not None:
            yield line.decode(errors="replace")

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        rest = b""
        try:
            while chunk := self._chunk():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._hand_over(loop, line + b"\n")
            if rest:
                self._hand_over(loop, rest)
            self._hand_over(loop, None)
        except (RuntimeError, CancelledError):  # the loop has ended, or ends now
            return

    def _chunk(self) -> bytes:
        try:
            return os.read(self._descriptor, _READ_BYTES)
        except OSError:  # a terminal or a pipe that is gone ends the input
            return b""

    def _hand_over(self, loop: asyncio.AbstractEventLoop, line: bytes | None) -> None:
        putting = self._lines.put(line)
        try:
            waiting = asyncio.run_coroutine_threadsafe(putting, loop)
        except RuntimeError:
            putting.close()
            raise
        waiting.result()
