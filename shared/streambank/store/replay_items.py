"""Replays as attributes of items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, replace
from typing import Any

from streambank.model.ids import OperationId
from streambank.model.replay import (
    BankProgress,
    Comparison,
    Difference,
    JudgedWindow,
    MemoriesFrom,
    Replay,
    ReplayedVerdict,
    ReplaySpec,
    WindowPick,
)
from streambank.model.usage import Usage
from streambank.model.verdict import Verdict
from streambank.store import codec, text
from streambank.store.attributes import instant, milliseconds


def job_values(replay: Replay) -> codec.Values:
    """Return the attributes of a replay that begins."""
    return {
        "num": replay.number,
        "open": replay.number,
        "beg": milliseconds(replay.started),
        "run": replay.run,
        "idle": replay.idle_runs,
        "ask": text.compressed(_request_row(replay.request)),
        **progress_values(replay),
    }


def _request_row(spec: ReplaySpec) -> list[Any]:
    return [dict(spec.overrides), spec.windows, dict(spec.scope) if spec.scope is not None else None]


def progress_values(replay: Replay) -> codec.Values:
    """Return the attributes that say how far a replay has come."""
    progress = replay.progress
    rows = [
        list(progress.cursor) if progress.cursor else None,
        [astuple(one) for one in progress.picks],
        progress.done,
        [str(one) for one in progress.differing],
        progress.failures,
    ]
    return {"pro": text.compressed(rows), "man": text.dumps(dict(replay.counts))}


def finished_values(replay: Replay) -> codec.Values:
    """Return the attributes of what a replay found; of what it was asked for the name of the model is kept."""
    result = _comparison_row(replay.comparison) if replay.comparison else None
    spec, progress = replay.request, replace(replay.progress, picks=())
    kept = ReplaySpec({"generationConfig": dict(spec.overrides.get("generationConfig", {}))}, spec.windows)
    return {
        "res": text.compressed(result) if result else None,
        "ask": text.compressed(_request_row(kept)),
        **progress_values(replace(replay, progress=progress)),
    }


def replay_of(bank: str, operation: OperationId | None, item: Mapping[str, Any]) -> Replay:
    """Return the replay in *item*."""
    overrides, windows, scope = text.decompressed(item["ask"])
    result = item.get("res")
    return Replay(
        bank,
        item["num"],
        codec.instant_of(item["beg"]),
        ReplaySpec(overrides, windows, scope),
        operation,
        run=item["run"],
        idle_runs=item["idle"],
        counts=json.loads(item["man"]),
        ended=instant(item.get("end")),
        failure=item.get("fail"),
        progress=_progress(text.decompressed(item["pro"])),
        comparison=_comparison(text.decompressed(result)) if result else None,
    )


def _progress(rows: list[Any]) -> BankProgress:
    cursor, picks, done, differing, failures = rows
    operations = (OperationId.parse(one) for one in differing)
    return BankProgress(
        (cursor[0], cursor[1]) if cursor else None,
        tuple(WindowPick(*one) for one in picks),
        done,
        tuple(one for one in operations if one),
        failures,
    )


def _comparison_row(one: Comparison) -> list[Any]:
    sides = [_judged_row(one.recorded), _judged_row(one.replayed)]
    return [one.memories_from, *sides, one.missing_memories, one.omitted]


def _judged_row(one: JudgedWindow) -> list[Any]:
    return [[list(astuple(verdict)) for verdict in one.verdicts], list(astuple(one.usage)), one.model]


def _comparison(row: list[Any]) -> Comparison:
    memories_from, recorded, replayed, missing, omitted = row
    return Comparison(MemoriesFrom(memories_from), _judged(recorded), _judged(replayed), missing, omitted)


def _judged(row: list[Any]) -> JudgedWindow:
    verdicts, usage, model = row
    return JudgedWindow(tuple(ReplayedVerdict(Verdict(one[0]), *one[1:]) for one in verdicts), Usage(*usage), model)


def difference_values(replay: Replay, one: Difference) -> codec.Values:
    """Return the attributes of how a window's verdicts differ in *replay*."""
    rows = [one.verdicts, list(one.only_recorded), list(one.only_replayed), one.omitted]
    return {"num": replay.number, "d": text.compressed(rows)}


def difference_of(operation: OperationId, item: Mapping[str, Any]) -> Difference:
    """Return the difference in *item*."""
    verdicts, only_recorded, only_replayed, omitted = text.decompressed(item["d"])
    return Difference(operation, verdicts, tuple(only_recorded), tuple(only_replayed), omitted)
