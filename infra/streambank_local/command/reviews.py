"""`streambank reviews`, `accept` and `reject`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import click

from streambank_client.types import Review
from streambank_local.command.connection import Connection, connected, scope_option


@click.command(epilog="\b\nExample:\n  streambank reviews --scope user_id=ada\n")
@connected
@scope_option(required=False)
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True, help="at most this many")
def reviews(connection: Connection, scope: dict[str, str], limit: int) -> None:
    """List the changes of memories that wait for a decision, newest first: of a scope, or of the bank."""
    listed = connection.bank().list_reviews(scope=scope or None, page_size=min(limit, 1_000))
    page = list(islice(listed, limit))
    lines = [line for one in page for line in _lines(one)] or ["Nothing waits for a review."]
    connection.write({"reviews": [one.document() for one in page]}, lines)


@click.command(epilog="\b\nExample:\n  streambank accept REVIEW_ID\n")
@connected
@click.argument("review", nargs=-1, required=True)
def accept(connection: Connection, review: tuple[str, ...]) -> None:
    """Make the changes that reviews wait with, by their ids; a pinned memory stays pinned."""
    _decide(connection, "accepted", review, lambda one: connection.bank().accept_review(review=one))


@click.command(epilog="\b\nExample:\n  streambank reject REVIEW_ID\n")
@connected
@click.argument("review", nargs=-1, required=True)
def reject(connection: Connection, review: tuple[str, ...]) -> None:
    """Drop the changes that reviews wait with, by their ids; the same events do not propose them again."""
    _decide(connection, "rejected", review, lambda one: connection.bank().reject_review(review=one))


def _decide(connection: Connection, word: str, names: tuple[str, ...], decide: Callable[[str], Review]) -> None:
    decided = [decide(one) for one in names]
    lines = [f"{word}  {one.action.lower()}  {', '.join(each.fact for each in one.memories)}" for one in decided]
    connection.write({"reviews": [one.document() for one in decided]}, lines)


def _lines(one: Review) -> list[str]:
    owner = ",".join(f"{key}={value}" for key, value in one.scope.items())
    now = [f"    now   {memory.fact or 'a profile'}" for memory in one.memories]
    text = one.fact or (str(one.structured_content.data) if one.structured_content else "")
    return [
        f"{one.id}  {owner}  {one.action.lower()}, {one.cause.lower()}",
        *now,
        *([f"    then  {text}"] if text else []),
    ]
