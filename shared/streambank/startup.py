"""The start of a function: importing this module pauses garbage collection, and `finish` resumes it.

While modules load, nothing is garbage: the collections that Python would run take a tenth of a cold start's CPU
(`python -m benchmarks`). A function imports this module before the others.
"""

import gc
from functools import cache

gc.disable()


def finish() -> None:
    """Collect garbage again; what has been loaded is not looked through, since it stays as long as the process."""
    _leave_out_what_is_loaded()
    gc.enable()


@cache  # once a process: later starts, of tests and local mode, would keep garbage for ever
def _leave_out_what_is_loaded() -> None:
    gc.freeze()
