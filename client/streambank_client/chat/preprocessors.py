"""Preprocessing of a history when it is loaded for a run, and when it is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, get_args

from streambank_client.chat.providers import ChatMessage
from streambank_client.chat.shapes import is_system
from streambank_client.chat.windows import window

ApplyOn = Literal["load", "store", "both"]
PreprocessorFunction: TypeAlias = Callable[[list[ChatMessage]], Iterable[ChatMessage]]


class Preprocessing(Protocol):
    """A preprocessor that is an object."""

    def preprocess(self, messages: list[ChatMessage], /) -> Iterable[ChatMessage]:
        """Return the messages that replace *messages*."""
        ...


Preprocessor: TypeAlias = PreprocessorFunction | Preprocessing


@dataclass(frozen=True, slots=True)
class PreprocessingStep:
    """A preprocessor, and whether it is applied to loaded messages, to stored messages, or to both."""

    preprocess: PreprocessorFunction
    apply_on: ApplyOn

    def __post_init__(self) -> None:
        if self.apply_on not in get_args(ApplyOn):
            raise ValueError('apply_on: must be "load", "store" or "both"')


def preprocessed(
    messages: Iterable[ChatMessage], steps: Sequence[PreprocessingStep], *, on: Literal["load", "store"]
) -> list[ChatMessage]:
    """Return *messages* after each of the *steps* for loading or storing, applied one after the other."""
    result = list(messages)
    for step in steps:
        if step.apply_on in (on, "both"):
            result = list(step.preprocess(result))
    return result


def windowed(size: int | None, *, begin_with_user: bool = False) -> PreprocessorFunction:
    """Return a preprocessor that keeps the last *size* messages, or all for None. Raises ValueError for a bad size."""
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 0):
        raise ValueError("window_size: must be a number of messages, 0 or more")
    return lambda messages: window(messages, size, begin_with_user=begin_with_user)


def filtered(predicate: Callable[[ChatMessage], bool]) -> PreprocessorFunction:
    """Return a preprocessor that keeps the messages for which *predicate* is true."""
    return lambda messages: [message for message in messages if predicate(message)]


def without_system(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Return the messages that are no instructions to the model."""
    return [message for message in messages if not is_system(message)]
