"""What a change leaves of a memory's past: when its texts were stated, and what was lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from streambank.model.memory import Memory, Revision
from streambank.model.validity import Statement

# Of one text: the one that made it, the oldest and the newest by their evidence, and the latest learnt of the others.
MAX_STATEMENTS = 32


def with_first_text(memory: Memory, revision: Revision | None) -> Memory:
    """Return a new *memory*, which is its own *revision*."""
    return replace(memory, own_revision=revision, statements=(Statement(memory.as_of, memory.created),))


def with_next_text(before: Memory, after: Memory, revision: Revision | None, at: datetime, *, now: datetime) -> Memory:
    """Return *after*, whose text was stated at *at*; the text of *before* is lost where it has no revision."""
    is_lost = bool(before.statements) and before.own_revision is None
    return replace(
        after,
        own_revision=revision,
        statements=(Statement(at, now),),
        whole_since=at if is_lost else before.whole_since,
    )


def with_statement(memory: Memory, at: datetime, *, now: datetime) -> Memory:
    """Return *memory*, whose text was stated at *at* too."""
    return replace(memory, statements=_limited([*statements_of(memory), Statement(at, now)]))


def statements_of(memory: Memory) -> tuple[Statement, ...]:
    """Return when the text of *memory* was stated; of one of an earlier release only its newest evidence is known."""
    return memory.statements or (Statement(memory.as_of, memory.updated),)


def _limited(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return the statements that a text keeps, in the order in which they were learnt."""
    if len(statements) <= MAX_STATEMENTS:
        return tuple(statements)
    kept = {statements[0], min(statements, key=_time), max(statements, key=_time)}
    dropped = next(one for one in statements if one not in kept)
    return tuple(one for one in statements if one != dropped)


def _time(statement: Statement) -> datetime:
    return statement.at
