"""A scope whose past is asked for, and a model that takes facts with one subject for one memory."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from streambank.llm.ports import (
    Action,
    Consolidation,
    ConsolidationRequest,
    Decision,
)
from streambank.model.memory import Memory
from streambank.model.validity import Moment
from streambank.pipeline.memories.edit import update_memory
from streambank.pipeline.memories.past import PastView, in_scope_at
from streambank.rules.edits import Edit
from streambank.rules.selection import parse_selection
from streambank.store.scope_revisions import ScopeRevisions
from streambank.wire.reply import rfc3339
from tests import aws
from tests.world import SCOPE, START, World, event

SUBJECTS = ("I live in", "My cat is called")
VALUES = ("Graz", "Linz", "Wien")
HOUR = timedelta(hours=1)


class OneMemoryPerSubject:
    """A model that takes facts with one subject for one memory, whatever it says; a correction is marked by a word."""

    def consolidate(self, request: ConsolidationRequest) -> Consolidation:
        return Consolidation(tuple(self._decision(request, number) for number in range(len(request.facts))))

    def _decision(self, request: ConsolidationRequest, index: int) -> Decision:
        fact = request.facts[index]
        text = fact.fact.removeprefix("Correction: ")
        about = [one for one in request.memories if _subject(one.fact) == _subject(text)]
        if not about:
            return Decision(fact.number, Action.CREATE, text=text)
        number = (about[0].number,)
        if about[0].fact == text:
            return Decision(fact.number, Action.NONE, number)
        return Decision(fact.number, Action.UPDATE, number, text, is_correction=text != fact.fact)


def _subject(text: str) -> str:
    return next(one for one in SUBJECTS if text.startswith(one))


def made(client: Any) -> World:
    aws.empty(client)
    return World(client, consolidator=OneMemoryPerSubject())


def say(world: World, text: str, hours_ago: float, **fields: Any) -> None:
    """Say *text* as something that was said *hours_ago* before the clock's start, and generate."""
    at = rfc3339(START - hours_ago * HOUR)
    world.ingest(event(text, eventTime=at), forceFlush=True, **fields)
    world.settle()
    world.clock.move(seconds=1)


def look(
    world: World, *, true_at: float | None = None, known_at: datetime | None = None, bank: str = "default"
) -> PastView:
    at = None if true_at is None else START - true_at * HOUR
    return in_scope_at(
        bank,
        SCOPE,
        parse_selection(""),
        Moment(at, known_at),
        memories=world.memories,
        revisions=ScopeRevisions(world.table),
        now=world.clock(),
    )


def texts(view: PastView) -> list[str]:
    return sorted(one.fact for one in view.memories)


def edit(world: World, **fields: Any) -> Memory:
    [memory] = world.memories.of_scope("default", SCOPE, now=world.clock())
    return update_memory("default", memory.id, None, Edit(**fields), context=world.editing())
