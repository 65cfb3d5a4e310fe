"""Which messages of a turn are new: those that were not loaded, and those that were edited since."""

from __future__ import annotations

import json
from collections.abc import Sequence

from streambank_client.chat.providers import ChatMessage


def new_messages(messages: Sequence[ChatMessage], loaded: Sequence[ChatMessage]) -> list[int]:
    """Return the indexes of the messages that a run added to those *loaded*; equal texts are two messages.

    Loaded messages are recognized as the same objects. If none of these is left, because a framework has made copies,
    they are recognized as equal messages at the same places; one that differs there is new.
    """
    known = {id(message) for message in loaded}
    new = [at for at, message in enumerate(messages) if id(message) not in known]
    if len(new) < len(messages):
        return new
    copies = {at for at, message in enumerate(loaded[: len(messages)]) if messages[at] == message}
    return [at for at in new if at not in copies]


class LoadedMessages:
    """The messages with which a turn began, as they were then."""

    def __init__(self, messages: Sequence[ChatMessage] = ()) -> None:
        # The objects are kept, so that no new message gets the identity of one that was removed.
        self._messages = tuple(messages)
        self._documents = {id(message): _document(message) for message in messages}

    def new(self, messages: Sequence[ChatMessage]) -> list[int]:
        """Return the indexes of those of a turn's *messages* that were not loaded."""
        return new_messages(messages, self._messages)

    def changed(self, messages: Sequence[ChatMessage]) -> frozenset[int]:
        """Return the indexes of loaded messages that were changed in place."""
        return frozenset(
            at
            for at, message in enumerate(messages)
            if id(message) in self._documents and self._documents[id(message)] != _document(message)
        )


def _document(message: ChatMessage) -> str:
    return json.dumps(message, ensure_ascii=False, sort_keys=True, default=str)
