"""The output of a tool, joined from its items."""

from __future__ import annotations

from typing import Any

from streambank_client.formats import tool_arguments
from streambank_client.formats.content_builder import ContentBuilder
from streambank_client.formats.conversion import JSON, Reason
from streambank_client.formats.part_validation import ValidPart, validate_part


class ToolOutput:
    """A single JSON value is kept as it is; several items are joined with newlines; media become parts."""

    def __init__(self, builder: ContentBuilder, *, at: int | None, kind: str) -> None:
        self._builder = builder
        self._at = at
        self._kind = kind
        self._items: list[tuple[Any, bool]] = []
        self.parts: list[JSON] = []
        self._is_reordered = False

    def add_text(self, text: str) -> None:
        if text.strip():
            self._add(text, is_json=False)
        else:
            self._builder.drop(Reason.BLANK, kind=f"{self._kind}.text", at=self._at)

    def add_json(self, value: Any) -> None:
        result = validate_part({"json": value})
        if isinstance(result, ValidPart):
            self._add(result.part["json"], is_json=True)
        else:
            self._builder.drop(result, kind=f"{self._kind}.json", at=self._at)

    def add_media(self, part: JSON | None) -> None:
        self.parts += [part] if part else []

    def _add(self, value: Any, *, is_json: bool) -> None:
        self._is_reordered |= bool(self.parts)
        self._items.append((value, is_json))

    def value(self) -> Any:
        """Return the output, and record it as rewritten if its items cannot be separated again."""
        is_single = len(self._items) == 1
        is_ambiguous = is_single and self._items[0][1] and isinstance(self._items[0][0], str)
        if len(self._items) > 1 or is_ambiguous or self._is_reordered:
            self._builder.drop(Reason.REWRITTEN, kind=self._kind, at=self._at)
        if is_single:
            return self._items[0][0]
        return "\n".join(tool_arguments.to_text(value) if is_json else value for value, is_json in self._items)
