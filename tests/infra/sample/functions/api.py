"""Shows reminders, and what else a test wants to see."""

import json
import os
import time
from typing import Any

import sample_wiring

_inside: list[int] = []


def handler(event: dict[str, Any], context: Any) -> Any:
    answer = {"/echo": _echo, "/crash": _crash, "/odd": _odd, "/busy": _busy, "/environment": _environment}
    return answer.get(event["rawPath"], _show)(event)


def _echo(event: dict[str, Any]) -> Any:
    return event


def _crash(event: dict[str, Any]) -> Any:
    raise RuntimeError("secret text")


def _odd(event: dict[str, Any]) -> Any:
    return {"statusCode": 200, "body": {1, 2}}


def _busy(event: dict[str, Any]) -> Any:
    _inside.append(1)
    time.sleep(0.02)
    together = len(_inside)
    _inside.pop()
    return {"together": together}


def _environment(event: dict[str, Any]) -> Any:
    return {name: os.environ[name] for name in ("MODEL", "POWERTOOLS_LOG_LEVEL", "TABLE_NAME", "AWS_REGION")}


def _show(event: dict[str, Any]) -> dict[str, Any]:
    item = sample_wiring.table().get_item(Key={"PK": event["rawPath"].strip("/"), "SK": "HEAD"}).get("Item", {})
    shown = {name: int(item[name]) for name in ("ripe", "rung") if name in item}
    return {"statusCode": 200 if item else 404, "body": json.dumps(shown), "cookies": ["a=1", "b=2"]}
