"""Deliberately broken builds: the emulator overlooks one condition, as if the code had not asked for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Action = dict[str, Any]
# Each takes one action of a transaction (or a single write) and tells whether its condition is overlooked.
BREAKS: dict[str, Callable[[Action], bool]] = {
    "a stream's version": lambda a: _sk(a) == "HEAD" and "#ver" in a["ConditionExpression"],
    "an event's marker": lambda a: _sk(a).startswith("D#"),
    "the fence of an attempt": lambda a: _sk(a).startswith("W#") and "#cur = :is_cur" in a["ConditionExpression"],
    "a scope's version": lambda a: _sk(a) == "V" and "#ver" in a["ConditionExpression"],
    "a window that is there already": lambda a: _sk(a).startswith("W#") and "not_exists" in a["ConditionExpression"],
    "candidates that are there already": lambda a: _sk(a).startswith("P#") and "#C" in _sk(a),
    "the token of a request": lambda _: False,
}


def overlook(client: Any, name: str) -> None:
    """Let every call of *client* go out without the conditions that *name* stands for."""
    is_overlooked = BREAKS[name]

    def strip(params: dict[str, Any], **_: Any) -> None:
        if name == "the token of a request":
            params.pop("ClientRequestToken", None)
        actions = [next(iter(one.values())) for one in params.get("TransactItems", [])] or [params]
        for action in actions:
            if "ConditionExpression" in action and is_overlooked(action):
                _strip(action)

    client.meta.events.register("before-parameter-build.dynamodb", strip)


def _sk(action: Action) -> str:
    return str((action.get("Item") or action.get("Key"))["SK"]["S"])


def _strip(action: Action) -> None:
    """Remove a condition, and the names and values that nothing else speaks of."""
    del action["ConditionExpression"]
    used = set(re.findall(r"[#:]\w+", action.get("UpdateExpression", "")))
    for kind in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
        left = {name: value for name, value in action.pop(kind, {}).items() if name in used}
        if left:
            action[kind] = left
