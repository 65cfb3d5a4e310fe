"""The content of a user's prompt: a text, or a list of texts and media."""

from __future__ import annotations

from streambank_client.formats.content_builder import ContentBuilder
from streambank_client.formats.conversion import Reason
from streambank_client.formats.node import Node, wrong_type
from streambank_client.formats.pydantic_ai.media_items import read_media


def add_user_prompt(builder: ContentBuilder, at: int, part: Node, kind: str) -> None:
    """Add the texts and media of a user's prompt. Raises ValueError if its content is neither text nor list."""
    content = part.get("content")
    if isinstance(content, str):
        builder.add_text(content, at=at, kind=kind)
        return
    if content is not None and not isinstance(content, list):
        raise wrong_type(part, "content", "a string or a list")
    for index, item in enumerate(content or []):
        if isinstance(item, str):
            builder.add_text(item, at=at, kind=kind)
        else:
            _add_item(builder, at, Node(item, f"{part.path}.content[{index}]"), kind)


def _add_item(builder: ContentBuilder, at: int, item: Node, kind: str) -> None:
    if item.text("kind") == "text":
        text = item.text("text") or item.text("content")
        builder.drop_fields(item.other_fields("kind", "text", "content"), at=at, of=kind)
        builder.drop(Reason.REWRITTEN, kind=kind, at=at)
        builder.add_text(text, at=at, kind=kind)
    else:
        builder.add_media(read_media(builder, at, item), at=at, kind=kind)
