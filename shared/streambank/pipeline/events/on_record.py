"""What a stream record sets off. Streams only accelerate: losing every record loses nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from streambank.model.window import WindowState
from streambank.pipeline.events.seal import seal_if_ripe
from streambank.pipeline.generation.start import start
from streambank.store.executions import Executions
from streambank.store.streams import Streams
from streambank.store.windows import Windows


@dataclass(frozen=True, slots=True)
class ChangedItem:
    """The part of a stream record that counts: whose it is. What it says may be old, so it is not used."""

    bank: str
    sid: str
    window: int | None

    @classmethod
    def of(cls, pk: str, sk: str) -> ChangedItem:
        """Return the record of the item under this key: a HEAD or a window."""
        _, bank, sid = pk.split("#")
        return cls(bank, sid, int(sk.removeprefix("W#")) if sk.startswith("W#") else None)


def on_record(
    record: ChangedItem, *, streams: Streams, windows: Windows, executions: Executions, clock: Callable[[], datetime]
) -> None:
    """Seal a ripe window, start a sealed one, or the one after an ended one. Repeating it changes nothing."""
    if record.window is None:
        seal_if_ripe(record.bank, record.sid, streams=streams, clock=clock)
        return
    window = windows.get(record.bank, record.sid, record.window)
    if window and window.has_ended:
        window = windows.get(record.bank, record.sid, record.window + 1)
    # Retries are the sweep's: starting from the record of a failure would retry without a pause.
    if window and window.state is WindowState.SEALED and window.attempt == 0:
        start(window, windows=windows, executions=executions)
