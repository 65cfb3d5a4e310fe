"""Keeping several speakers apart: a Content has the roles of user and model only, so a text names its speaker."""

from __future__ import annotations

from streambank_client.formats.conversion import Options


def with_speaker(text: str, speaker: str, options: Options, *, ids: tuple[str, ...] = ()) -> str:
    """Return *text* after the name of its speaker, unless the speaker is the user of *options* or has no name."""
    is_user = options.user is not None and options.user in (speaker, *ids)
    return f"{speaker}: {text}" if speaker and text.strip() and not is_user else text
