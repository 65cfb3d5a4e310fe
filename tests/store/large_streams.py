"""Streams of any number of windows, written to the table at once: ingesting them would take too long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests import aws

Item = dict[str, Any]


def multiply(client: Any, sid: str, windows: int, bank: str = "default") -> None:
    """Let a stream whose only window has one event have *windows* such windows; each third one is parked."""
    of_stream = {item["SK"]["S"]: item for item in aws.dump(client) if item["PK"]["S"] == f"S#{bank}#{sid}"}
    head = of_stream["HEAD"]
    head |= {"win": _number(windows + 1), "wst": _number(windows + 1), "seq": _number(windows)}
    first = [item for sk, item in of_stream.items() if sk != "HEAD"]
    puts = [{"PutRequest": {"Item": item}} for item in [head, *_copies(first, windows)]]
    for start in range(0, len(puts), 25):
        client.batch_write_item(RequestItems={aws.TABLE: puts[start : start + 25]})


def _copies(first: list[Item], windows: int) -> Iterator[Item]:
    for number in range(2, windows + 1):
        for item in first:
            yield _copy(item, number)


def _copy(item: Item, number: int) -> Item:
    kind, name, *rest = item["SK"]["S"].split("#")
    numbers = {key: _number(number) for key in ("seq", "win", "fst", "lst") if key in item}
    copy = {**item, **numbers, "SK": {"S": "#".join((kind, _name(kind, name, number), *rest))}}
    return {**copy, "st": {"S": "PARKED"}, "fail": {"S": "MODEL_REFUSED"}} if kind == "W" and number % 3 == 0 else copy


def _name(kind: str, name: str, number: int) -> str:
    return f"{number:08x}" + name[8:] if kind == "D" else f"{number:012}"


def _number(number: int) -> dict[str, str]:
    return {"N": str(number)}
