"""English prose of a given length, from the standard library's own documentation."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pydoc_data.topics import topics


def _sentences() -> Iterator[str]:
    for text in topics.values():
        for paragraph in re.split(r"\n\s*\n", text):
            plain = " ".join(paragraph.split())
            if len(plain) > 200 and not re.search(r"[|=+]{2}|::=|>>>", plain):
                yield plain


def pieces(size: int) -> Iterator[str]:
    """Yield texts of *size* characters, one after the other, without end."""
    buffer = ""
    for paragraph in itertools.cycle(list(_sentences())):
        buffer += paragraph + " "
        while len(buffer) >= size:
            yield buffer[:size]
            buffer = buffer[size:]
