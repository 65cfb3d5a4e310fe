"""The start of a function: importing this module pauses garbage collection, and `finish` resumes it.

While modules load, nothing is garbage: the collections that Python would run take a tenth of a cold start's CPU
(`python -m benchmarks`). A function imports this module before the others.
"""

import gc

gc.disable()


def finish() -> None:
    """Collect garbage again; what has been loaded stays as long as the process, and is not looked through."""
    gc.freeze()
    gc.enable()
