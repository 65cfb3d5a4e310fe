"""The prompts: a stable text with a version, a text that varies with the bank, and the data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from streambank.llm.ports import (
    ConsolidationRequest,
    Example,
    ExtractionRequest,
    OfferedFact,
    OfferedMemory,
    ProfileSchema,
    Turn,
)

EXTRACT = "extract-3"
CONSOLIDATE = "consolidate-3"
_FOLDER = Path(__file__).parent / "prompts"
_FIRST_PERSON = 'In the first person, as the user would say it of themselves, like "I live in CITY-1".'
_THIRD_PERSON = 'In the third person, other than in the examples above, like "The user lives in CITY-1".'
_TOOLS = """Tools
- A turn with the role "tool" has the calls of tools with their arguments, and their results, as JSON. Long JSON is cut.
- What a tool returns explains what the user and the assistant say. It is no statement of the user.
- Record only what the user states or confirms, and name the turn of the user beside that of the tool."""
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, slots=True)
class SystemText:
    """The system text: *stable* is the same for every request, *variable* depends on the bank."""

    stable: str
    variable: str

    @property
    def text(self) -> str:
        return f"{self.stable}\n{self.variable}"


def extraction_system(request: ExtractionRequest) -> SystemText:
    """Return the system text for *request*."""
    parts = [
        _person_and_zone(third_person=request.third_person, time_zone=request.time_zone),
        _tools(request),
        _topics(request),
        _profiles(request.schemas, is_natural=request.is_natural),
        *map(_example, range(1, len(request.examples) + 1), request.examples),
    ]
    return SystemText(stable_text(EXTRACT), "\n\n".join(filter(None, parts)))


def extraction_prompt(request: ExtractionRequest) -> str:
    """Return the memories, what was recorded before, and the conversation as JSON lines."""
    zone = ZoneInfo(request.time_zone)
    return "\n".join(
        [
            *_fenced_if_any("memories", [_memory(memory, zone) for memory in request.memories]),
            *_fenced_if_any("recorded", [{"fact": fact} for fact in request.recorded]),
            _fenced("conversation", (_turn(turn, zone) for turn in request.turns)),
        ]
    )


def consolidation_system(request: ConsolidationRequest) -> SystemText:
    """Return the system text for *request*."""
    variable = _person_and_zone(third_person=request.third_person, time_zone=request.time_zone)
    return SystemText(stable_text(CONSOLIDATE), variable)


def consolidation_prompt(request: ConsolidationRequest) -> str:
    """Return facts and memories as JSON lines."""
    zone = ZoneInfo(request.time_zone)
    facts = _fenced("facts", (_fact(fact, zone) for fact in request.facts))
    return facts + "\n" + _fenced("memories", (_memory(memory, zone) for memory in request.memories))


@cache
def stable_text(name: str) -> str:
    """Return the stable text of prompt *name*."""
    return (_FOLDER / f"{name}.txt").read_text("utf-8").strip()


def _person_and_zone(*, third_person: bool, time_zone: str) -> str:
    return f"How to write\n- {_THIRD_PERSON if third_person else _FIRST_PERSON}\n- Time zone: {time_zone}"


def _fenced_if_any(name: str, rows: list[dict[str, Any]]) -> list[str]:
    return [_fenced(name, rows)] if rows else []


def _fenced(name: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """Return *rows* as JSON lines between tags; no text inside can close the tags."""
    lines = (_escaped(json.dumps(row, ensure_ascii=False)) for row in rows)
    return "\n".join([f"<{name}>", *lines, f"</{name}>"])


# JSON escapes quotes and most line ends. These characters occur only inside its strings, where an escape is equivalent.
_ESCAPES = str.maketrans({one: f"\\u{ord(one):04x}" for one in "<>\x85\u2028\u2029"})


def _escaped(line: str) -> str:
    return line.translate(_ESCAPES)


def _turn(turn: Turn, zone: ZoneInfo) -> dict[str, Any]:
    row = {"n": turn.number, "role": turn.role, **_day_and_time(turn.at, zone), "text": turn.text}
    return row | ({"context": True} if turn.context else {})


def _memory(memory: OfferedMemory, zone: ZoneInfo) -> dict[str, Any]:
    row = {"n": memory.number, "memory": memory.fact, "time": _time(_local(memory.as_of, zone))}
    return row | ({"earlier": list(memory.earlier)} if memory.earlier else {})


def _fact(fact: OfferedFact, zone: ZoneInfo) -> dict[str, Any]:
    row = {"n": fact.number, "fact": fact.fact, **_day_and_time(fact.at, zone)}
    proposed = {"change": fact.change, "memories": list(fact.memories), "text": fact.text, "turns": list(fact.turns)}
    return row | {name: value for name, value in proposed.items() if value}


def _day_and_time(at: datetime, zone: ZoneInfo) -> dict[str, str]:
    local = _local(at, zone)
    return {"day": _DAYS[local.weekday()], "time": _time(local)}


def _local(at: datetime, zone: ZoneInfo) -> datetime:
    """Return *at* with the speaker's own offset if there is one, else in the user's time zone.

    Near the first and the last year a zone has no such time; then it is UTC.
    """
    if at.utcoffset():
        return at
    try:
        return at.astimezone(zone)
    except OverflowError:
        return at.replace(tzinfo=UTC)


def _time(at: datetime) -> str:
    return at.isoformat(timespec="minutes")


def _tools(request: ExtractionRequest) -> str:
    """Return what turns of tools are, if there are any; the stable text is the same without them."""
    return _TOOLS if any(turn.role == "tool" for turn in request.turns) else ""


def _topics(request: ExtractionRequest) -> str:
    """Return the bank's topics with their descriptions; the stable text and the tool have the managed ones."""
    known = dict(request.descriptions)
    lines = (
        ": ".join(filter(None, (f"- {_one_line(name)}", _one_line(known.get(name, ""))))) for name in request.topics
    )
    return "\n".join(["Topics", *lines]) if request.topics else ""


def _profiles(schemas: tuple[ProfileSchema, ...], *, is_natural: bool) -> str:
    if not schemas:
        return ""
    lines = (f"- {one.id}: {json.dumps(one.schema, ensure_ascii=False)}" for one in schemas)
    only = "" if is_natural else ' Record no facts: leave "facts" empty.'
    return (
        'Profiles\nBeside the facts, "profiles" takes the values that the user states for fields of these JSON '
        f"schemas: only fields that were stated, with the numbers of the turns.{only}\n" + "\n".join(lines)
    )


def _example(number: int, example: Example) -> str:
    rows = ({"n": n, "role": role, "text": text} for n, (role, text) in enumerate(example.turns, 1))
    facts = [{"fact": fact} | ({"topic": topic} if topic else {}) for fact, topic in example.facts]
    answer = _escaped(json.dumps(facts, ensure_ascii=False))
    return f"Example {number}\n{_fenced('example', rows)}\nFacts: {answer}"


def _one_line(text: str) -> str:
    """Return a bank's text on one line."""
    return " ".join(text.split())
