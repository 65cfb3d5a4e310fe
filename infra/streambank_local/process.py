"""What local mode changes in its process while it runs, and takes back at its end."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from streambank_local.emulator.functions import unload_functions
from streambank_local.user_aws import OWN_ENDPOINTS

# Variables that could lead a client past the emulator, or to a real account.
_REMOVED = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_ENDPOINT_URL")
_SERVICE_ENDPOINT = "AWS_ENDPOINT_URL_"


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set *variables* of the process, without those that could lead a client past the emulator, until the end."""
    endpoints = {name for name in os.environ if name.startswith(_SERVICE_ENDPOINT) and name not in OWN_ENDPOINTS}
    names = {*variables, *_REMOVED, *endpoints}
    before = {name: os.environ.pop(name) for name in names if name in os.environ}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name, None)
        os.environ.update(before)


@contextmanager
def importable(folder: Path) -> Iterator[None]:
    """Let the functions in *folder* be imported anew, until the end."""
    before = list(sys.path)
    sys.path.insert(0, str(folder))
    unload_functions()
    try:
        yield
    finally:
        sys.path[:] = before
        unload_functions()
