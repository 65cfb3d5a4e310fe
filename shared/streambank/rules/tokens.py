"""Estimates tokens, of which every model counts its own."""

from __future__ import annotations

from streambank.model.event import Event

# The bytes of UTF-8 in a token, estimated low: English has about four characters a token, scripts of three bytes a
# character have up to one and a half tokens a character.
BYTES_PER_TOKEN = 2.5


def estimate_tokens(text: str) -> int:
    """Return an upper estimate of the tokens of *text*."""
    return int(len(text.encode(errors="replace")) / BYTES_PER_TOKEN) + 1


def event_tokens(event: Event) -> int:
    """Return an upper estimate of the tokens of an event's texts: 1 where it has none."""
    return estimate_tokens("\n".join(part["text"] for part in event.parts if part.get("text")))
