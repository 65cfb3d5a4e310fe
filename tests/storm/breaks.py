"""Deliberately broken builds: the emulator overlooks one condition, as if the code had not asked for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Action = dict[str, Any]
Actions = list[Action]


def overlook(client: Any, name: str) -> None:
    """Let every call of *client* go out without what *name* stands for."""
    break_it = BREAKS[name]

    def change(params: dict[str, Any], **_: Any) -> None:
        actions = [next(iter(one.values())) for one in params.get("TransactItems", [])] or [params]
        if {"Item", "Key"} & set(actions[0]):
            break_it(params, actions)

    client.meta.events.register("before-parameter-build.dynamodb", change)


def _condition(is_overlooked: Callable[[Action, set[str]], bool]) -> Callable[[Action, Actions], None]:
    """Return a break that drops the conditions for which *is_overlooked* says so; it sees what else is written."""

    def drop(_params: Action, actions: Actions) -> None:
        kinds = {_kind(action) for action in actions}
        for action in actions:
            if "ConditionExpression" in action and is_overlooked(action, kinds):
                _strip(action)

    return drop


def _token(params: Action, _actions: Actions) -> None:
    params.pop("ClientRequestToken", None)  # botocore makes a new one for each call


def _due_time(_params: Action, actions: Actions) -> None:
    for action in actions:
        if _kind(action) == "W#" and "Item" in action:
            action["Item"] = {name: value for name, value in action["Item"].items() if name not in ("G1PK", "G1SK")}


def _suspended_expiry(params: Action, actions: Actions) -> None:
    holds = len(actions) == 2 and _kind(actions[1]) in ("B#", "P#") and "Key" in actions[1]
    if holds and "ConditionCheck" in params["TransactItems"][0]:
        del params["TransactItems"][0]


def _checks(kind: str, clause: str, other: str) -> Callable[[Action, Actions], None]:
    """Return a break that drops the ConditionChecks of a kind of items from transactions that write an *other* kind."""

    def is_overlooked(one: Action) -> bool:
        check = one.get("ConditionCheck", {})
        return bool(check) and _kind(check) == kind and clause in check["ConditionExpression"]

    def drop(params: Action, actions: Actions) -> None:
        if other in {_kind(action) for action in actions}:
            left = [one for one in params.get("TransactItems", []) if not is_overlooked(one)]
            params.update(TransactItems=left) if left else None

    return drop


def _window_fence(params: Action, actions: Actions) -> None:
    if "CUT" in {_kind(action) for action in actions} and "TransactItems" in params:
        is_fence = [_kind(action) == "W#" and "Key" in action for action in actions]
        params["TransactItems"] = [
            one for one, fence in zip(params["TransactItems"], is_fence, strict=True) if not fence
        ]


def _is_version(action: Action, kind: str) -> bool:
    return _kind(action) == kind and "#ver" in action["ConditionExpression"]


def _is_new(action: Action, kind: str) -> bool:
    return _kind(action) == kind and "not_exists" in action["ConditionExpression"]


# What nothing else stands in for: a storm has to notice each of these.
NEEDED: dict[str, Callable[[Action, Actions], None]] = {
    "a stream's version as its timer is set": _condition(lambda a, others: _is_version(a, "HEAD") and len(others) == 1),
    "a scope's version": _condition(lambda a, _: _kind(a) == "V"),
    "the token of a request": _token,
    "when a window is due": _due_time,
    "that a window is pending whose expiry is suspended": _suspended_expiry,
    "that the windows up to a cut are given up": _window_fence,
}
# What only storms of erasures in few scopes notice.
OF_ERASURES: dict[str, Callable[[Action, Actions], None]] = {
    "that a window is pending as its results are stored": _checks("W#", "#att", "P#"),
}
# What nothing else stands in for, and a storm meets too seldom: `test_late_runs.py` plays the race at every call.
SCRIPTED: dict[str, Callable[[Action, Actions], None]] = {
    "that an erasure still takes streams as it cuts one": _checks("V", "#erasing", "CUT"),
}
# In a storm's calm at the end the sweep alone works, so this one shows in the fairest weather.
FOUL = {"when a window is due"}
# What another condition backs up: a second line, which no storm can tell from none.
BACKED_UP: dict[str, Callable[[Action, Actions], None]] = {
    "an event's marker (by the stream's version)": _condition(lambda a, _: _kind(a) == "D#"),
    "a stream's version as events come in (by their numbers)": _condition(
        lambda a, others: _is_version(a, "HEAD") and "B#" in others
    ),
    "a stream's version as its window is sealed (by the window's number)": _condition(
        lambda a, others: _is_version(a, "HEAD") and "W#" in others
    ),
    "a window that is there already (by the stream's version)": _condition(lambda a, _: _is_new(a, "W#")),
    "the cursor of an attempt (by the scope's version)": _condition(
        lambda a, _: _kind(a) == "W#" and "#cur = :is_cur" in a["ConditionExpression"]
    ),
    "candidates that are there already (by the fence)": _condition(lambda a, _: _is_new(a, "P#")),
}
BREAKS = NEEDED | OF_ERASURES | SCRIPTED | BACKED_UP


def _kind(action: Action) -> str:
    """Return the first part of an item's sort key: `HEAD`, `CUT`, `V`, `B#`, `D#`, `W#`, `P#`."""
    sk = str((action.get("Item") or action.get("Key") or {})["SK"]["S"])
    return sk if sk in ("HEAD", "CUT", "V") else sk[:2]


def _strip(action: Action) -> None:
    """Remove a condition, and the names and values that nothing else speaks of."""
    del action["ConditionExpression"]
    used = set(re.findall(r"[#:]\w+", action.get("UpdateExpression", "")))
    for kind in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
        left = {name: value for name, value in action.pop(kind, {}).items() if name in used}
        if left:
            action[kind] = left
