"""The start of a function: importing this module pauses garbage collection, and `finish` resumes it.

While modules load, nothing is garbage: the collections that Python would run take a tenth of a cold start's CPU
(`python -m benchmarks`). A function imports this module before the others.
"""

import gc

gc.disable()


def finish() -> None:
    """Collect garbage again; what has been loaded is not looked through, since it stays as long as the process.

    Only the first start of a process does that: later ones, of tests and local mode, would keep garbage for ever.
    """
    if not gc.get_freeze_count():
        gc.freeze()
    gc.enable()
