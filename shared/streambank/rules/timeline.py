"""What a memory said at a time: its texts in the order of their evidence, and how far back they are whole.

A text holds from its evidence on, or from the later start that its words give, until the next text does. A correction
says that the text before it was never true, and takes its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

from streambank.model.memory import Memory, Revision
from streambank.model.validity import Moment, Statement
from streambank.rules import history, profiles


@dataclass(frozen=True, slots=True)
class _Row:
    """A text as it was stated once, from *start* on; *is_correction* counts for the statement that made it."""

    revision: Revision
    statement: Statement
    start: datetime
    is_correction: bool = False


def memory_at(memory: Memory, revisions: Sequence[Revision], moment: Moment) -> Memory | None:
    """Return *memory* with the text that it had at *moment*, or None where it had none that held then.

    *revisions* are all that are left of it, in any order. What has no revisions, as its metadata, is as it is now; the
    number of the revision is 0 where it has none.
    """
    rows = _known(_rows(memory, revisions), moment)
    if memory.profile:
        return _profile_at(memory, rows, moment)
    row = _last(_corrected(rows), moment)
    if row is None or (moment.true_at and row.revision.validity.is_over(moment.true_at)):
        return None
    return _with_text(memory, row, row.revision.fact, row.revision.vector)


def whole_since(memory: Memory, revisions: Sequence[Revision]) -> datetime | None:
    """Return since when every text that *memory* had is known, or None if none was lost."""
    texts = {one.number: one for one in revisions if one.fact}
    missing = _last_missing(memory, texts)
    later = [one for one in texts.values() if one.number > missing and not one.is_late]
    first = min(later, key=lambda one: one.number, default=None)
    starts = [memory.whole_since] if memory.whole_since else []
    if missing:
        starts.append(_made_at(first) if first else _own_start(memory, missing))
    return max(starts, default=None)


def _last_missing(memory: Memory, texts: Mapping[int, Revision]) -> int:
    """Return the number of the newest revision that is gone, or 0 if none is."""
    known = {memory.own_revision.number if memory.own_revision else 0, *texts}
    number = next(number for number in count(memory.revision, -1) if not number or number not in known)
    return number if number > memory.hidden else 0


def first_evidence(memory: Memory, revisions: Sequence[Revision]) -> datetime:
    """Return the time of the oldest evidence that is known of *memory*."""
    return min(row.statement.at for row in _rows(memory, revisions))


def _own_start(memory: Memory, missing: int) -> datetime:
    """Return since when the memory's own text is the newest of all, revision number *missing* included."""
    own = memory.own_revision
    return history.statements_of(memory)[0].at if own and own.number > missing else memory.as_of


def _made_at(revision: Revision) -> datetime:
    return revision.statements[0].at if revision.statements else revision.created


def _rows(memory: Memory, revisions: Iterable[Revision]) -> list[_Row]:
    """Return every statement of every text, in the order of their evidence, ties as they were learnt."""
    texts = {one.number: one for one in revisions if one.fact}
    own = _own_text(memory, texts)
    visible = [one for one in texts.values() if one.number > memory.hidden and one.number != own.number]
    rows = [row for one in visible for row in _rows_of(one)]
    rows += _rows_of(own)
    return sorted(
        rows, key=lambda row: (row.statement.at, row.statement.learnt, row.revision.number or memory.revision)
    )


def _own_text(memory: Memory, texts: dict[int, Revision]) -> Revision:
    """Return the text that the memory has now; its number is 0 if no revision of it is left."""
    own = memory.own_revision
    number = own.number if own and own.number in texts else 0
    if own is None and memory.revision in texts and texts[memory.revision].fact == memory.fact:
        number = memory.revision
    made = texts.get(number) or own or Revision(memory.id, 0, memory.fact, memory.updated, None)
    return replace(
        made,
        number=number,
        fact=memory.fact,
        validity=memory.validity,
        statements=history.statements_of(memory),
        vector=memory.vector,
    )


def _rows_of(revision: Revision) -> list[_Row]:
    statements = revision.statements or (Statement(revision.created, revision.created),)
    return [
        _Row(revision, one, _start(revision, one.at), revision.is_correction and index == 0)
        for index, one in enumerate(statements)
    ]


def _start(revision: Revision, at: datetime) -> datetime:
    return max(at, revision.validity.start or at)


def _known(rows: Iterable[_Row], moment: Moment) -> list[_Row]:
    return [row for row in rows if moment.known_at is None or row.statement.learnt <= moment.known_at]


def _corrected(rows: Iterable[_Row]) -> list[_Row]:
    """Return *rows* without the texts that were never true: a correction holds from when those were stated."""
    kept = list[_Row]()
    for row in rows:
        if not row.is_correction or not kept:
            kept.append(row)
            continue
        wrong, start = kept[-1].revision, row.statement.at
        while kept and kept[-1].revision.fact == wrong.fact:
            start = kept.pop().statement.at
        kept.append(replace(row, start=_start(row.revision, start)))
    return kept


def _last(rows: Sequence[_Row], moment: Moment) -> _Row | None:
    begun = [row for row in rows if moment.true_at is None or row.start <= moment.true_at]
    return begun[-1] if begun else None


def _with_text(memory: Memory, row: _Row, fact: str, vector: bytes) -> Memory:
    revision = row.revision
    return replace(
        memory,
        fact=fact,
        vector=vector,
        validity=revision.validity,
        as_of=row.statement.at,
        updated=revision.created,
        revision=revision.number,
        evidence=(),
    )


def _profile_at(memory: Memory, rows: Sequence[_Row], moment: Moment) -> Memory | None:
    """Return a profile with the newest value of each field; a field that was stated again is known by its last time."""
    made = [row for row in rows if row.statement == (row.revision.statements or (row.statement,))[0]]
    begun = [row for row in made if moment.true_at is None or row.start <= moment.true_at]
    if not begun:
        return None
    values = dict[str, object]()
    for row in begun:
        for fact in row.revision.extracted or (row.revision.fact,):
            values |= profiles.parse_data(fact)
    if moment.known_at is None:
        values |= _current_values(memory, moment)
    return _with_text(memory, begun[-1], profiles.to_fact(values), b"")


def _current_values(memory: Memory, moment: Moment) -> dict[str, object]:
    times = memory.profile.times if memory.profile else {}
    known = profiles.parse_data(memory.fact)
    return {
        name: known[name]
        for name, time in times.items()
        if name in known and (moment.true_at is None or time <= moment.true_at)
    }
