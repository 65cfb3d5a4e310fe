"""What a tool gave back, put together from its pieces."""

from __future__ import annotations

from typing import Any

from streambank_client.formats import arguments
from streambank_client.formats.conversion import JSON, Reason
from streambank_client.formats.draft import Draft
from streambank_client.formats.weighing import Weighed, weigh


class Output:
    """One JSON value alone is itself; anything else is text, joined by newlines; media stand beside it."""

    def __init__(self, draft: Draft, *, at: int | None, kind: str) -> None:
        self._draft = draft
        self._at = at
        self._kind = kind
        self._pieces: list[tuple[Any, bool]] = []
        self.parts: list[JSON] = []
        self._is_reordered = False

    def text(self, text: str) -> None:
        if text.strip():
            self._add(text, is_json=False)
        else:
            self._draft.drop(Reason.BLANK, kind=f"{self._kind}.text", at=self._at)

    def json(self, value: Any) -> None:
        found = weigh({"json": value})
        if isinstance(found, Weighed):
            self._add(found.part["json"], is_json=True)
        else:
            self._draft.drop(found, kind=f"{self._kind}.json", at=self._at)

    def media(self, part: JSON | None) -> None:
        self.parts += [part] if part else []

    def _add(self, value: Any, *, is_json: bool) -> None:
        self._is_reordered |= bool(self.parts)
        self._pieces.append((value, is_json))

    def value(self) -> Any:
        """Return the output, and note if its pieces cannot be told apart any more."""
        is_single = len(self._pieces) == 1
        is_ambiguous = is_single and self._pieces[0][1] and isinstance(self._pieces[0][0], str)
        if len(self._pieces) > 1 or is_ambiguous or self._is_reordered:
            self._draft.drop(Reason.REWRITTEN, kind=self._kind, at=self._at)
        if is_single:
            return self._pieces[0][0]
        return "\n".join(arguments.text(value) if is_json else value for value, is_json in self._pieces)
