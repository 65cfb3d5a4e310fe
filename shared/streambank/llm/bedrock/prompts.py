"""The prompts: versioned system texts, and the data that follows them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from string import Template
from typing import Any
from zoneinfo import ZoneInfo

from streambank.llm.ports import ConsolidationRequest, Example, ExtractionRequest, ProfileSchema, Turn
from streambank.model.memory import ManagedTopic

EXTRACT = "extract-1"
CONSOLIDATE = "consolidate-1"
_FOLDER = Path(__file__).parent / "prompts"
_MANAGED = {
    ManagedTopic.USER_PERSONAL_INFO: "who the user is: names, family, home, work, health, dates that matter",
    ManagedTopic.USER_PREFERENCES: "what the user likes, dislikes, prefers, avoids, how they want things",
    ManagedTopic.KEY_CONVERSATION_DETAILS: "events, plans, decisions and results that later conversations build on",
    ManagedTopic.EXPLICIT_INSTRUCTIONS: "what the user explicitly asks to remember, or how they want to be answered",
}
_FIRST_PERSON = 'In the first person, as the user would say it of themselves: "I am allergic to nuts".'
_THIRD_PERSON = 'In the third person: "The user is allergic to nuts".'


def extraction_system(request: ExtractionRequest) -> str:
    """Return the system text for *request*."""
    return (
        _template(EXTRACT)
        .substitute(
            time_zone=request.time_zone,
            person=_THIRD_PERSON if request.third_person else _FIRST_PERSON,
            topics="\n".join(_topics(request)),
            profiles=_profiles(request.schemas, is_natural=request.is_natural),
            examples=_examples(request.examples),
        )
        .strip()
    )


def extraction_prompt(request: ExtractionRequest) -> str:
    """Return the conversation as JSON lines."""
    zone = ZoneInfo(request.time_zone)
    return _fenced("conversation", (_turn(turn, zone) for turn in request.turns))


def consolidation_system() -> str:
    """Return the system text for a consolidation."""
    return _template(CONSOLIDATE).substitute().strip()


def consolidation_prompt(request: ConsolidationRequest) -> str:
    """Return facts and memories as JSON lines."""
    facts = ({"n": fact.number, "fact": fact.fact, "time": _time(fact.at)} for fact in request.facts)
    memories = (
        {"n": memory.number, "memory": memory.fact, "time": _time(memory.as_of)}
        | ({"earlier": list(memory.earlier)} if memory.earlier else {})
        for memory in request.memories
    )
    return _fenced("facts", facts) + "\n" + _fenced("memories", memories)


@cache
def _template(name: str) -> Template:
    return Template((_FOLDER / f"{name}.txt").read_text("utf-8"))


def _fenced(name: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """Return *rows* as JSON lines between tags; no text inside can close the tags."""
    lines = (_escaped(json.dumps(row, ensure_ascii=False)) for row in rows)
    return "\n".join([f"<{name}>", *lines, f"</{name}>"])


# JSON escapes quotes and most line ends. These characters occur only inside its strings, where an escape is equivalent.
_ESCAPES = str.maketrans({one: f"\\u{ord(one):04x}" for one in "<>\x85\u2028\u2029"})


def _escaped(line: str) -> str:
    return line.translate(_ESCAPES)


def _turn(turn: Turn, zone: ZoneInfo) -> dict[str, Any]:
    row = {"n": turn.number, "role": turn.role, "time": _local(turn.at, zone), "text": turn.text}
    return row | ({"context": True} if turn.context else {})


def _local(at: datetime, zone: ZoneInfo) -> str:
    """Return *at* with the speaker's own offset if there is one, else in the window's time zone."""
    has_own_offset = at.utcoffset()
    return (at if has_own_offset else at.astimezone(zone)).isoformat(timespec="minutes")


def _time(at: datetime) -> str:
    return at.isoformat(timespec="minutes")


def _topics(request: ExtractionRequest) -> Iterable[str]:
    names = request.topics or tuple(ManagedTopic)
    known = {str(topic): text for topic, text in _MANAGED.items()} | dict(request.descriptions)
    return (f"- {_one_line(name)}" + (f": {_one_line(known[name])}" if known.get(name) else "") for name in names)


def _profiles(schemas: tuple[ProfileSchema, ...], *, is_natural: bool) -> str:
    if not schemas:
        return ""
    lines = (f"- {one.id}: {json.dumps(one.schema, ensure_ascii=False)}" for one in schemas)
    only = "" if is_natural else ' Record no facts: leave "facts" empty.'
    return (
        '\nProfiles\nBeside the facts, "profiles" takes the values that the user states for fields of these JSON '
        f"schemas: only fields that were stated, with the numbers of the turns.{only}\n" + "\n".join(lines) + "\n"
    )


def _examples(examples: tuple[Example, ...]) -> str:
    return "".join(f"\nExample {number}\n{_example(one)}\n" for number, one in enumerate(examples, 1))


def _example(example: Example) -> str:
    rows = ({"n": n, "role": role, "text": text} for n, (role, text) in enumerate(example.turns, 1))
    facts = [{"fact": fact} | ({"topic": topic} if topic else {}) for fact, topic in example.facts]
    return _fenced("example", rows) + "\nFacts: " + _escaped(json.dumps(facts, ensure_ascii=False))


def _one_line(text: str) -> str:
    """Return a bank's text on one line."""
    return " ".join(text.split())
