"""Parses the tool input in a model's reply, as tolerantly as is safe."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from streambank.llm.ports import Action, Decision, ExtractedFact, ExtractedProfile

# More than any window yields; this stops a model that repeats itself.
_MAX_ROWS = 1_000
_MAX_STARTS = 50
_INVALID_ESCAPE = re.compile(r'\\(?:(?=u(?![0-9a-fA-F]{4}))|(?!["\\/bfnrtu]))')
_ESCAPE_PAIR = re.compile(r"(\\\\)")
_ACTIONS = {"ADD": Action.CREATE, "NOOP": Action.NONE, "MERGE": Action.UPDATE}


class UnusableReply(Exception):
    """A reply that cannot be used; the message is sent to the model."""


def find_tool_input(content: Sequence[Mapping[str, Any]], tool: str, key: str) -> dict[str, Any]:
    """Return the input of *tool* in a reply's *content*: an object with a list under *key*.

    The input is looked for in the calls of tools, then in the text.

    Raises:
        UnusableReply: there is none.
    """
    for value in _values(content, tool):
        find_tool_input = _object_with_key(value, key)
        if find_tool_input is not None:
            return find_tool_input
    raise UnusableReply(f'call the tool {tool} once, with an object that has "{key}", a list of objects')


def _values(content: Sequence[Mapping[str, Any]], tool: str) -> Iterator[Any]:
    """Yield the possible inputs: those of *tool*, those of other tools, JSON in the text."""
    calls = [block["toolUse"] for block in content if isinstance(block.get("toolUse"), dict)]
    for call in sorted(calls, key=lambda call: call.get("name") != tool):
        value = call.get("input")
        yield from _parsed(value) if isinstance(value, str) else (value,)
    yield from _parsed("\n".join(str(block["text"]) for block in content if block.get("text")))


def _parsed(text: str) -> Iterator[Any]:
    """Yield each JSON object or array in *text*; prose and fences around it and broken escapes do no harm."""
    decoder = json.JSONDecoder(strict=False)
    repaired = _repair_escapes(text)
    position = 0
    for _ in range(_MAX_STARTS):
        start = min((at for at in (repaired.find("{", position), repaired.find("[", position)) if at >= 0), default=-1)
        if start < 0:
            return
        try:
            value, position = decoder.raw_decode(repaired, start)
        except (ValueError, RecursionError):
            position = start + 1
        else:
            yield value


def _repair_escapes(text: str) -> str:
    """Return *text* with each backslash doubled that does not begin an escape of JSON."""
    pieces = _ESCAPE_PAIR.split(text)
    return "".join(piece if piece == "\\\\" else _INVALID_ESCAPE.sub(r"\\\\", piece) for piece in pieces)


def _object_with_key(value: Any, key: str) -> dict[str, Any] | None:
    """Return *value* as an object with a list under *key*, or None.

    Repairs a bare array, a list that is written as text, and an object inside another object.
    """
    if isinstance(value, list) and all(isinstance(row, dict) for row in value):
        return {key: value}
    if not isinstance(value, dict):
        return None
    if isinstance(value.get(key), str):
        value = {**value, key: next(_parsed(value[key]), None)}
    if isinstance(value.get(key), list):
        return dict(value)
    inner: list[dict[str, Any]] = [
        one for one in value.values() if isinstance(one, dict) and isinstance(one.get(key), list)
    ]
    return inner[0] if len(inner) == 1 else None


def parse_facts(value: Mapping[str, Any]) -> tuple[ExtractedFact, ...]:
    """Return the facts of a `record_facts` input. Raises UnusableReply if one lacks its text or its events."""
    return tuple(_fact(row, f"facts[{index}]") for index, row in enumerate(_rows(value["facts"], "facts")))


def _fact(row: Mapping[str, Any], where: str) -> ExtractedFact:
    topic = row.get("topic")
    return ExtractedFact(
        fact=_text(row.get("fact"), f"{where}.fact"),
        events=_numbers(row.get("events"), f"{where}.events"),
        topic=_text(topic, f"{where}.topic") if topic else None,
    )


def parse_profiles(value: Mapping[str, Any], ids: Collection[str]) -> tuple[ExtractedProfile, ...]:
    """Return the profiles of a `record_facts` input. Raises UnusableReply if one names an unknown schema."""
    rows = _rows(value.get("profiles") or [], "profiles")
    return tuple(_profile(row, ids, f"profiles[{index}]") for index, row in enumerate(rows))


def _profile(row: Mapping[str, Any], ids: Collection[str], where: str) -> ExtractedProfile:
    if row.get("schema") not in ids:
        raise UnusableReply(f"{where}.schema must be one of {', '.join(ids)}")
    data = row.get("data")
    if not isinstance(data, dict):
        raise UnusableReply(f"{where}.data must be an object")
    _text(json.dumps(data, ensure_ascii=False), f"{where}.data")
    return ExtractedProfile(str(row["schema"]), data, _numbers(row.get("events"), f"{where}.events"))


def parse_decisions(value: Mapping[str, Any], *, fact_count: int, memory_count: int) -> tuple[Decision, ...]:
    """Return the decisions of a `consolidate` input, the first for each fact.

    Raises:
        UnusableReply: one names a fact or a memory that was not offered, or a fact has no decision.
    """
    by_fact: dict[int, Decision] = {}
    for index, row in enumerate(_rows(value["decisions"], "decisions")):
        decision = _decision(row, f"decisions[{index}]", fact_count, memory_count)
        by_fact.setdefault(decision.fact, decision)
    missing = [number for number in range(1, fact_count + 1) if number not in by_fact]
    if missing:
        raise UnusableReply(f"there is no decision for fact {missing[0]}; each fact needs one")
    return tuple(by_fact.values())


def _decision(row: Mapping[str, Any], where: str, fact_count: int, memory_count: int) -> Decision:
    action = _action(row.get("action"), f"{where}.action")
    memory = _optional_number(row.get("memory"), f"{where}.memory", memory_count)
    if action in (Action.UPDATE, Action.DELETE) and memory is None:
        raise UnusableReply(f"{where}.memory must be the number of a memory for {action}")
    text, reason = row.get("text"), row.get("reason")
    return Decision(
        fact=_check_range(_number(row.get("fact"), f"{where}.fact"), f"{where}.fact", fact_count),
        action=action,
        memories=() if action is Action.CREATE or memory is None else (memory,),
        text=_text(text, f"{where}.text") if text else None,
        reason=_text(reason, f"{where}.reason") if reason else "",
    )


def _action(value: Any, where: str) -> Action:
    name = str(value).strip().upper()
    if name in _ACTIONS:
        return _ACTIONS[name]
    if name not in list(Action):
        raise UnusableReply(f"{where} must be one of {', '.join(Action)}")
    return Action(name)


def _optional_number(value: Any, where: str, count: int) -> int | None:
    return None if value in (None, "", 0, "0") else _check_range(_number(value, where), where, count)


def _check_range(number: int, where: str, count: int) -> int:
    if not 1 <= number <= count:
        raise UnusableReply(f"{where} is {number}; the numbers are 1 to {count}")
    return number


def _rows(value: Any, where: str) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise UnusableReply(f"{where} must be a list of objects")
    if len(value) > _MAX_ROWS:
        raise UnusableReply(f"{where} has {len(value)} entries; the limit is {_MAX_ROWS}")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise UnusableReply(f"{where} must be a text")
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise UnusableReply(f"{where} has a broken \\u escape")
    return value.replace("\x00", "").strip()


def _numbers(value: Any, where: str) -> tuple[int, ...]:
    if value is None:
        raise UnusableReply(f"{where} must be a list of turn numbers")
    return tuple(_number(one, where) for one in (value if isinstance(value, list) else [value]))


def _number(value: Any, where: str) -> int:
    """Return a whole number, which may be written as text or with a zero fraction."""
    if isinstance(value, str) and value.strip().lstrip("#").isdecimal() and len(value) < 10:
        return int(value.strip().lstrip("#"))
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or abs(value) > 1e9:  # noqa: PLR0124  not NaN
        raise UnusableReply(f"{where} must be a number")
    if value != int(value):
        raise UnusableReply(f"{where} must be a whole number")
    return int(value)
