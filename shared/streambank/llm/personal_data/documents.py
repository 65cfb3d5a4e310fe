"""Several texts in few requests: texts are joined to documents of a limited size, and long ones are cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from streambank.rules.content_policy.spans import Span

_BETWEEN = "\n\n"
# What is on the border of two pieces of a text is whole in one of them.
_OVERLAP_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class _Piece:
    """The piece of text number *number* from character *start* on, which is at *at* in its document."""

    number: int
    start: int
    at: int
    length: int


@dataclass(slots=True)
class Document:
    """Pieces of texts that are sent in one request."""

    text: str = ""
    pieces: list[_Piece] = field(default_factory=list)

    def add(self, number: int, start: int, piece: str) -> None:
        """Put the *piece* of a text behind the others."""
        at = len(self.text) + len(_BETWEEN) if self.pieces else 0
        self.text += (_BETWEEN if self.pieces else "") + piece
        self.pieces.append(_Piece(number, start, at, len(piece)))

    def located(self, start: int, end: int) -> Iterator[tuple[int, Span]]:
        """Yield the number of each text that has characters from *start* to *end* of the document, and which."""
        for piece in self.pieces:
            first, last = max(start, piece.at), min(end, piece.at + piece.length)
            if first < last:
                yield piece.number, Span(piece.start + first - piece.at, piece.start + last - piece.at)


def documents(texts: Sequence[str], *, most_bytes: int) -> list[Document]:
    """Return *texts* in documents of at most *most_bytes* bytes of UTF-8."""
    made = [Document()]
    size = 0
    for number, text in enumerate(texts):
        for start, piece in _pieces(text, most_bytes):
            weight = len(piece.encode()) + len(_BETWEEN)
            if size + weight > most_bytes and made[-1].pieces:
                made.append(Document())
                size = 0
            made[-1].add(number, start, piece)
            size += weight
    return [one for one in made if one.pieces]


def _pieces(text: str, most_bytes: int) -> Iterator[tuple[int, str]]:
    """Yield the pieces of a text with their first characters' numbers; a character has at most four bytes."""
    length = most_bytes // 4 if len(text.encode()) > most_bytes - len(_BETWEEN) else max(len(text), 1)
    step = max(length - _OVERLAP_CHARACTERS, 1) if length < len(text) else length
    for start in range(0, len(text), step):
        yield start, text[start : start + length]
        if start + length >= len(text):
            return
