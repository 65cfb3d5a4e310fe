"""Reads the answers of both tools row by row: a row that cannot be used costs that row, never its neighbours."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic, TypeVar
from zoneinfo import ZoneInfo

from streambank.llm.dialogue.echoes import Placeholders
from streambank.llm.dialogue.values import (
    offered,
    read_flag,
    read_memories,
    read_number,
    read_numbers,
    read_text,
    readable,
)
from streambank.llm.ports import (
    Action,
    ConsolidationRequest,
    Decision,
    ExtractedFact,
    ExtractedProfile,
    ExtractionRequest,
    FactChange,
)
from streambank.model.memory import ManagedTopic
from streambank.model.validity import Validity
from streambank.rules.validity import read_validity

# More than any window yields; this stops a model that repeats itself.
_MAX_ROWS = 1_000
_READABLE_CHARACTERS = 200
_ACTIONS = {str(one): one for one in Action} | {"ADD": Action.CREATE, "NOOP": Action.NONE, "MERGE": Action.UPDATE}
_CHANGES = {str(one): one for one in FactChange} | {
    "ADD": FactChange.NEW,
    "CREATE": FactChange.NEW,
    "UPDATE": FactChange.CHANGES,
    "DELETE": FactChange.FORGETS,
    "FORGET": FactChange.FORGETS,
    "NONE": FactChange.REPEATS,
    "SAME": FactChange.REPEATS,
}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What could be read of a tool's input; *problem* says what is wrong if there are rows and none can be used."""

    value: T
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ExtractionAnswer:
    """The facts, unusable ones included, and the profiles of a `record_facts` input."""

    facts: tuple[ExtractedFact, ...] = ()
    profiles: tuple[ExtractedProfile, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractionReader:
    """Reads `record_facts` for *request*, of which only the turns and the memories can be named."""

    request: ExtractionRequest
    placeholders: Placeholders
    events: frozenset[int] = field(init=False)
    memories: frozenset[int] = field(init=False)
    topics: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        names = self.request.topics or tuple(ManagedTopic)
        object.__setattr__(self, "events", frozenset(turn.number for turn in self.request.turns))
        object.__setattr__(self, "memories", frozenset(memory.number for memory in self.request.memories))
        object.__setattr__(self, "topics", {str(name).casefold(): str(name) for name in names})

    def read(self, tool_input: Mapping[str, Any]) -> Answer[ExtractionAnswer]:
        """Return each row as a fact or a profile; a row that cannot be used is a fact with a problem."""
        facts = list(map(self._fact, _rows(tool_input, "facts"))) if self.request.is_natural else []
        profiles = list(map(self._profile, _rows(tool_input, "profiles")))
        refused = [one for one in profiles if isinstance(one, ExtractedFact)]
        usable = tuple(one for one in profiles if isinstance(one, ExtractedProfile))
        answer = ExtractionAnswer((*facts, *refused), usable)
        return Answer(answer, "" if usable else _problem_of_all(answer.facts))

    def _fact(self, row: Any) -> ExtractedFact:
        if not isinstance(row, dict):
            return _refused(row, "the row is not an object")
        read = ExtractedFact(
            fact=read_text(row.get("fact")),
            events=offered(read_numbers(row.get("events")), self.events),
            topic=self._topic(row.get("topic")),
            change=_CHANGES.get(_name(row.get("change"))),
            memories=read_memories(row, self.memories),
            text=read_text(row.get("text")),
            validity=_validity(row, self.request.time_zone, max(turn.at for turn in self.request.turns)),
            is_correction=read_flag(row.get("correction")),
        )
        if not read.fact:
            return _refused(row.get("fact"), "the row has no fact that can be read")
        if self.placeholders.occur_in(read.fact, read.text):
            return _refused(read.fact, "the row copies an example of the instructions")
        return read if _has_numbers(row) else _refused(read.fact, "the row does not name its turns by number")

    def _topic(self, value: Any) -> str | None:
        """Return the offered topic; another one stays as it is if the bank has its own topics."""
        text = read_text(value)
        other = text if self.request.topics else ""
        return self.topics.get(text.casefold(), other) or None

    def _profile(self, row: Any) -> ExtractedProfile | ExtractedFact:
        if not isinstance(row, dict):
            return _refused(row, "the profile is not an object")
        schema, data = read_text(row.get("schema")), row.get("data")
        if schema not in {one.id for one in self.request.schemas}:
            return _refused(_as_json(data), "the profile names no schema of the bank")
        if not isinstance(data, dict) or not read_text(_as_json(data)):
            return _refused(_as_json(data), "the profile has no data that can be read")
        if self.placeholders.occur_in(_as_json(data)):
            return _refused(_as_json(data), "the profile copies an example of the instructions")
        if not _has_numbers(row):
            return _refused(_as_json(data), "the profile does not name its turns by number")
        return ExtractedProfile(schema, data, offered(read_numbers(row.get("events")), self.events))


@dataclass(frozen=True, slots=True)
class ConsolidationReader:
    """Reads `consolidate` for *request*, of which only the facts and the memories can be named."""

    request: ConsolidationRequest
    placeholders: Placeholders

    def read(self, tool_input: Mapping[str, Any]) -> Answer[tuple[Decision, ...]]:
        """Return the decisions in order, without rows that cannot be used."""
        facts = frozenset(one.number for one in self.request.facts)
        memories = frozenset(one.number for one in self.request.memories)
        rows = [
            self._checked(self._dated(_decision(row, facts, memories), row)) for row in _rows(tool_input, "decisions")
        ]
        decisions = tuple(row for row in rows if isinstance(row, Decision))
        problems = [row for row in rows if isinstance(row, str)]
        return Answer(decisions, problems[0] if problems and not decisions else "")

    def _dated(self, decision: Decision | str, row: Any) -> Decision | str:
        """Return *decision* with what *row* says of its time."""
        if isinstance(decision, str):
            return decision
        at = next(one.at for one in self.request.facts if one.number == decision.fact)
        validity = _validity(row, self.request.time_zone, at)
        return replace(decision, validity=validity, is_correction=read_flag(row.get("correction")))

    def _checked(self, decision: Decision | str) -> Decision | str:
        if isinstance(decision, Decision) and self.placeholders.occur_in(decision.text or ""):
            return "a row copies an example of the instructions"
        return decision


def _decision(row: Any, facts: frozenset[int], memories: frozenset[int]) -> Decision | str:
    """Return *row* as a decision, or why it cannot be used."""
    if not isinstance(row, dict):
        return "a row is not an object"
    fact, same_as = read_number(row.get("fact")), read_number(row.get("same_as"))
    action, named = _ACTIONS.get(_name(row.get("action"))), read_memories(row, memories)
    if fact is None or fact not in facts:
        return '"fact" must be the number of a fact in the list'
    if action is None:
        return f'"action" must be one of {", ".join(Action)}'
    if action in (Action.UPDATE, Action.DELETE) and not named:
        return f'"memories" must have the number of a memory in the list for {action}'
    return Decision(
        fact=fact,
        action=action,
        memories=() if action is Action.CREATE else named,
        text=read_text(row.get("text")) or None,
        reason=read_text(row.get("reason")),
        same_as=same_as if same_as in facts and same_as != fact else None,
    )


def _validity(row: Mapping[str, Any], time_zone: str, near: datetime) -> Validity:
    start, end = read_text(row.get("valid_from")), read_text(row.get("valid_until"))
    return read_validity(start, end, ZoneInfo(time_zone), near=near)


def _rows(tool_input: Mapping[str, Any], key: str) -> list[Any]:
    value = tool_input.get(key)
    return value[:_MAX_ROWS] if isinstance(value, list) else []


def _has_numbers(row: Mapping[str, Any]) -> bool:
    """Tell whether *row* has a list of turns, even an empty one, or numbers that do not exist."""
    return row.get("events") == [] or bool(read_numbers(row.get("events")))


def _refused(value: Any, problem: str) -> ExtractedFact:
    return ExtractedFact(readable(value, _READABLE_CHARACTERS), (), problem=problem)


def _problem_of_all(facts: Sequence[ExtractedFact]) -> str:
    """Return the first problem if no row of *facts* can be used."""
    return facts[0].problem if facts and all(fact.problem for fact in facts) else ""


def _name(value: Any) -> str:
    return read_text(value).upper()


def _as_json(value: Any) -> str:
    """Return *value* as JSON, or an empty text if it cannot be stored."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return ""
