"""A conversation of an export, and the branch of it that is current."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from streambank_client.formats.content_builder import ContentBuilder, convert_nodes
from streambank_client.formats.conversion import Conversion, Dropped, Options, Reason
from streambank_client.formats.node import Node


@dataclass(frozen=True, slots=True)
class ExportedConversation:
    """A conversation of an export: its id and title, where the export has them, and its Contents.

    The messages are numbered in their order; those of other branches follow after all of the current branch.
    """

    id: str | None
    title: str | None
    conversion: Conversion


def convert_branch(
    branch: Sequence[Node],
    others: int,
    convert_message: Callable[[ContentBuilder], None],
    *,
    options: Options,
) -> Conversion:
    """Return the Contents of the messages of the current branch; *others* is the number of the other messages."""
    conversion = convert_nodes(branch, convert_message, options=options)
    dropped = (Dropped(len(branch) + at, None, "message", Reason.OTHER_BRANCH) for at in range(others))
    return Conversion(conversion.contents, (*conversion.dropped, *dropped))


def follow_parents(parents: Mapping[str, str | None], leaf: str, path: str) -> list[str]:
    """Return the ids from the first message to *leaf*. Raises ValueError if a message is its own ancestor."""
    branch: dict[str, None] = {}
    current: str | None = leaf
    while current is not None and current in parents:
        if current in branch:
            raise ValueError(f"{path}: must not have a message that is its own ancestor")
        branch[current] = None
        current = parents[current]
    return list(reversed(branch))
