"""What models answer, read as generously as is safe."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from streambank.llm.ports import Action, Decision, ExtractedFact, ExtractedProfile

# More than any window yields; a model that repeats itself is stopped here.
_MOST_ROWS = 1_000
_MOST_STARTS = 50
_NO_ESCAPE = re.compile(r'\\(?:(?=u(?![0-9a-fA-F]{4}))|(?!["\\/bfnrtu]))')
_ESCAPE_PAIR = re.compile(r"(\\\\)")
_ACTIONS = {"ADD": Action.CREATE, "NOOP": Action.NONE, "MERGE": Action.UPDATE}


class Unusable(Exception):
    """An answer that cannot be used; the message is what the model is told."""


def tool_input(content: Sequence[Mapping[str, Any]], tool: str, key: str) -> dict[str, Any]:
    """Return the input of *tool* in a reply's *content*, an object that has *key*: from the call, else from text.

    Raises:
        Unusable: there is none.
    """
    for value in _values(content, tool):
        found = _keyed(value, key)
        if found is not None:
            return found
    raise Unusable(f'call the tool {tool} once, with an object that has "{key}", a list of objects')


def _values(content: Sequence[Mapping[str, Any]], tool: str) -> Iterator[Any]:
    """Yield what may be meant: inputs of the tool, inputs of another, JSON in the text."""
    calls = [block["toolUse"] for block in content if isinstance(block.get("toolUse"), dict)]
    for call in sorted(calls, key=lambda call: call.get("name") != tool):
        value = call.get("input")
        yield from _parsed(value) if isinstance(value, str) else (value,)
    yield from _parsed("\n".join(str(block["text"]) for block in content if block.get("text")))


def _parsed(text: str) -> Iterator[Any]:
    """Yield each JSON object or array in *text*, also between prose or fences, also with broken escapes."""
    decoder = json.JSONDecoder(strict=False)
    repaired = _with_escapes(text)
    position = 0
    for _ in range(_MOST_STARTS):
        start = min((at for at in (repaired.find("{", position), repaired.find("[", position)) if at >= 0), default=-1)
        if start < 0:
            return
        try:
            value, position = decoder.raw_decode(repaired, start)
        except (ValueError, RecursionError):
            position = start + 1
        else:
            yield value


def _with_escapes(text: str) -> str:
    """Return *text* with a backslash doubled wherever it begins no escape that JSON knows."""
    pieces = _ESCAPE_PAIR.split(text)
    return "".join(piece if piece == "\\\\" else _NO_ESCAPE.sub(r"\\\\", piece) for piece in pieces)


def _keyed(value: Any, key: str) -> dict[str, Any] | None:
    """Return *value* as an object with a list under *key*: an array on top, a wrapper or a list as text are mended."""
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


# ---- facts


def facts(value: Mapping[str, Any]) -> tuple[ExtractedFact, ...]:
    """Return the facts of a `record_facts` input. Raises Unusable if one lacks its text or its events."""
    return tuple(_fact(row, f"facts[{index}]") for index, row in enumerate(_rows(value["facts"], "facts")))


def _fact(row: Mapping[str, Any], where: str) -> ExtractedFact:
    topic = row.get("topic")
    return ExtractedFact(
        fact=_text(row.get("fact"), f"{where}.fact"),
        events=_numbers(row.get("events"), f"{where}.events"),
        topic=_text(topic, f"{where}.topic") if topic else None,
    )


def profiles(value: Mapping[str, Any], ids: Collection[str]) -> tuple[ExtractedProfile, ...]:
    """Return the profiles of a `record_facts` input. Raises Unusable if one is of no schema that was offered."""
    rows = _rows(value.get("profiles") or [], "profiles")
    return tuple(_profile(row, ids, f"profiles[{index}]") for index, row in enumerate(rows))


def _profile(row: Mapping[str, Any], ids: Collection[str], where: str) -> ExtractedProfile:
    if row.get("schema") not in ids:
        raise Unusable(f"{where}.schema must be one of {', '.join(ids)}")
    data = row.get("data")
    if not isinstance(data, dict):
        raise Unusable(f"{where}.data must be an object")
    _text(json.dumps(data, ensure_ascii=False), f"{where}.data")
    return ExtractedProfile(str(row["schema"]), data, _numbers(row.get("events"), f"{where}.events"))


# ---- decisions


def decisions(value: Mapping[str, Any], *, facts: int, memories: int) -> tuple[Decision, ...]:
    """Return the decisions of a `consolidate` input, the first for each fact.

    Raises:
        Unusable: one names a fact or a memory that was not offered, or a fact has none.
    """
    found: dict[int, Decision] = {}
    for index, row in enumerate(_rows(value["decisions"], "decisions")):
        decision = _decision(row, f"decisions[{index}]", facts, memories)
        found.setdefault(decision.fact, decision)
    missing = [number for number in range(1, facts + 1) if number not in found]
    if missing:
        raise Unusable(f"there is no decision for fact {missing[0]}; each fact needs one")
    return tuple(found.values())


def _decision(row: Mapping[str, Any], where: str, facts: int, memories: int) -> Decision:
    action = _action(row.get("action"), f"{where}.action")
    memory = _optional_number(row.get("memory"), f"{where}.memory", memories)
    if action in (Action.UPDATE, Action.DELETE) and memory is None:
        raise Unusable(f"{where}.memory must be the number of a memory for {action}")
    text, reason = row.get("text"), row.get("reason")
    return Decision(
        fact=_offered(_number(row.get("fact"), f"{where}.fact"), f"{where}.fact", facts),
        action=action,
        memory=None if action is Action.CREATE else memory,
        text=_text(text, f"{where}.text") if text else None,
        reason=_text(reason, f"{where}.reason") if reason else "",
    )


def _action(value: Any, where: str) -> Action:
    name = str(value).strip().upper()
    if name in _ACTIONS:
        return _ACTIONS[name]
    if name not in list(Action):
        raise Unusable(f"{where} must be one of {', '.join(Action)}")
    return Action(name)


def _optional_number(value: Any, where: str, count: int) -> int | None:
    return None if value in (None, "", 0, "0") else _offered(_number(value, where), where, count)


def _offered(number: int, where: str, count: int) -> int:
    if not 1 <= number <= count:
        raise Unusable(f"{where} is {number}; the numbers are 1 to {count}")
    return number


# ---- parts


def _rows(value: Any, where: str) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise Unusable(f"{where} must be a list of objects")
    if len(value) > _MOST_ROWS:
        raise Unusable(f"{where} has {len(value)} entries; the limit is {_MOST_ROWS}")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Unusable(f"{where} must be a text")
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise Unusable(f"{where} has a broken \\u escape")
    return value.replace("\x00", "").strip()


def _numbers(value: Any, where: str) -> tuple[int, ...]:
    if value is None:
        raise Unusable(f"{where} must be a list of turn numbers")
    return tuple(_number(one, where) for one in (value if isinstance(value, list) else [value]))


def _number(value: Any, where: str) -> int:
    """Return a number, also one that is written as a text or with a zero fraction."""
    if isinstance(value, str) and value.strip().lstrip("#").isdecimal() and len(value) < 10:
        return int(value.strip().lstrip("#"))
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or abs(value) > 1e9:  # noqa: PLR0124  not NaN
        raise Unusable(f"{where} must be a number")
    if value != int(value):
        raise Unusable(f"{where} must be a whole number")
    return int(value)
