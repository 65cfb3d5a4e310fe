"""What is done to a history on its way to a run, and on its way to its provider."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from streambank_client.chat.providers import Message
from streambank_client.chat.shapes import is_system
from streambank_client.chat.windows import window

ApplyOn = Literal["load", "store", "both"]
Preprocessor: TypeAlias = Callable[[list[Message]], Iterable[Message]]


@dataclass(frozen=True, slots=True)
class Step:
    """A preprocessor, and on which way it is applied."""

    preprocess: Preprocessor
    apply_on: ApplyOn

    def __post_init__(self) -> None:
        if self.apply_on not in get_args(ApplyOn):
            raise ValueError('apply_on: must be "load", "store" or "both"')


def preprocessed(messages: Iterable[Message], steps: Sequence[Step], *, on: Literal["load", "store"]) -> list[Message]:
    """Return *messages* after each of *steps* that is for this way: what one gives is what the next one takes."""
    found = list(messages)
    for step in steps:
        if step.apply_on in (on, "both"):
            found = list(step.preprocess(found))
    return found


def windowed(size: int | None) -> Preprocessor:
    """Return what keeps the last *size* messages, all for None. Raises ValueError for what is no size."""
    if size is None:
        return list
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise ValueError("window_size: must be a number of messages, 0 or more")
    return lambda messages: window(messages, size)


def filtered(predicate: Callable[[Message], bool]) -> Preprocessor:
    """Return what keeps the messages that *predicate* is true of."""
    return lambda messages: [message for message in messages if predicate(message)]


def without_system(messages: Iterable[Message]) -> list[Message]:
    """Return what no message of which is an instruction to the model."""
    return [message for message in messages if not is_system(message)]
