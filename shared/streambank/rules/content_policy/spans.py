"""Spans of a text, and their replacement."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias


class Span(NamedTuple):
    """The characters from *start* to before *end*."""

    start: int
    end: int


# Asks a service for the personal data in several texts at once.
AskService: TypeAlias = "Callable[[Sequence[str]], Sequence[Sequence[Span]]]"
# Takes the units of text that a service bills for one request.
Count: TypeAlias = "Callable[[int], None]"
# A service that tells what it bills for each of its requests.
BilledService: TypeAlias = "Callable[[Sequence[str], Count], Sequence[Sequence[Span]]]"


class Cut(NamedTuple):
    """Characters to remove, and the marker that stands for them."""

    start: int
    end: int
    marker: str


def merged(cuts: Iterable[Cut]) -> list[Cut]:
    """Return *cuts* in order, those that overlap as one with the marker of the first that was given."""
    ranked = sorted(enumerate(cuts), key=lambda pair: (pair[1].start, pair[0]))
    whole: list[tuple[int, Cut]] = []
    for rank, cut in ranked:
        if whole and cut.start < whole[-1][1].end:
            earlier_rank, earlier = whole[-1]
            first = min((earlier_rank, earlier.marker), (rank, cut.marker))
            whole[-1] = (first[0], Cut(earlier.start, max(earlier.end, cut.end), first[1]))
        else:
            whole.append((rank, cut))
    return [cut for _, cut in whole]


def without_cuts(texts: Sequence[str], cuts: Sequence[Cut]) -> list[str]:
    """Return *texts*, which are one text in pieces, with a marker for each of the *cuts*, which do not overlap.

    The marker of a cut across pieces is in the first of them.
    """
    left = deque(cuts)
    pieces, start = list[str](), 0
    for text in texts:
        end, at, kept = start + len(text), start, list[str]()
        while left and left[0].start < end:
            cut = left.popleft()
            kept += [text[at - start : cut.start - start], cut.marker]
            at = min(cut.end, end)
            if cut.end > end:
                left.appendleft(Cut(end, cut.end, ""))
                break
        pieces.append("".join([*kept, text[at - start :]]))
        start = end
    return pieces
