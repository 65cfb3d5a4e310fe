"""`streambank replay`: windows judged again with another configuration."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from streambank_client.types import ComparedVerdict, ReplayCost, ReplayResponse, ReplaySummary
from streambank_local.command.connection import Connection, connected, scope_option

# The width of the recorded side on a terminal.
_LEFT = 56


@click.command(
    epilog="\b\nExamples:\n  streambank replay OPERATION --model another-model\n"
    "  streambank replay --windows 50 --customization topics.json\n"
)
@connected
@scope_option(required=False)
@click.option("--windows", type=click.IntRange(1, 1_000), help="the newest windows of the bank, or of --scope")
@click.option("--model", help="the model to ask, in place of the bank's")
@click.option(
    "--customization",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="a file of JSON: the prompt customization to use, in the shape of the bank's configuration",
)
@click.option("--wait-seconds", type=float, default=600.0, show_default=True, help="how long to wait for the end")
@click.argument("operation", required=False)
def replay(
    connection: Connection,
    scope: dict[str, str],
    windows: int | None,
    model: str | None,
    customization: Path | None,
    wait_seconds: float,
    operation: str | None,
) -> int:
    """Judge a window again, or the newest windows of a bank, and show both answers side by side.

    No memory changes: this shows what another model, or another configuration, would have made of the same events. The
    status is 1 where the answers differ.
    """
    if (operation is None) == (windows is None):
        raise click.UsageError("give either OPERATION or --windows")
    if operation and scope:
        raise click.UsageError("--scope goes with --windows")
    bank, changes = connection.bank(), _changes(model, customization)
    begun = (
        bank.replay_operation(operation=operation, **changes)
        if operation
        else bank.replay(windows=windows or 1, scope=scope or None, **changes)
    )
    done = begun.result(timeout_seconds=wait_seconds)
    connection.write(done.document(), _summary_lines(done.summary) if done.summary else _window_lines(done))
    return int(_differs(done))


def _changes(model: str | None, customization: Path | None) -> dict[str, Any]:
    """Return what stands in place of the bank's configuration. Raises UsageError for a file that is no JSON object."""
    if customization is None:
        return {"model": model}
    try:
        document = json.loads(customization.read_text(encoding="utf-8"))
    except ValueError as error:
        raise click.UsageError(f"{customization} is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise click.UsageError(f"{customization} must hold an object")
    return {"model": model, "prompt_customization": document}


def _differs(done: ReplayResponse) -> bool:
    if done.summary:
        return done.summary.different > 0
    return list(map(_line, done.recorded)) != list(map(_line, done.replayed))


def _line(one: ComparedVerdict) -> str:
    return f"{one.verdict:9}  {one.text or one.fact}"


def _window_lines(done: ReplayResponse) -> Iterator[str]:
    """Yield each fact once: beside the recorded verdict the replayed one on the same fact, where there is one."""
    yield f"{'recorded':{_LEFT}}  replayed"
    left = {one.fact: one for one in done.replayed}
    for one in done.recorded:
        again = left.pop(one.fact, None)
        yield f"{_line(one):{_LEFT}}  {_line(again) if again else '-'}"
    for one in left.values():
        yield f"{'-':{_LEFT}}  {_line(one)}"
    yield f"{_cost(done.recorded_cost):{_LEFT}}  {_cost(done.replayed_cost)}"
    if done.memories_from == "NOW":
        yield "Some memories are shown as they are now: their earlier texts are not kept any more."


def _cost(cost: ReplayCost | None) -> str:
    if cost is None:
        return ""
    tokens = cost.input_tokens + cost.output_tokens
    return f"{cost.model or 'unknown model'}, {tokens:,} tokens, ${cost.estimated_cost_usd:.4f}"


def _summary_lines(summary: ReplaySummary) -> Iterator[str]:
    yield f"{summary.replayed} windows replayed, {summary.skipped} skipped, {summary.failed} failed"
    yield f"{'verdict':12}  {'recorded':>10}  {'replayed':>10}"
    for name in sorted({*summary.recorded_verdicts, *summary.replayed_verdicts}):
        counts = (summary.recorded_verdicts.get(name, 0), summary.replayed_verdicts.get(name, 0))
        yield f"{name:12}  {counts[0]:>10,}  {counts[1]:>10,}"
    costs = (summary.recorded_cost, summary.replayed_cost)
    tokens = [cost.input_tokens + cost.output_tokens for cost in costs]
    yield f"{'tokens':12}  {tokens[0]:>10,}  {tokens[1]:>10,}"
    yield f"{'US dollars':12}  {costs[0].estimated_cost_usd:>10.4f}  {costs[1].estimated_cost_usd:>10.4f}"
    yield f"{summary.different} windows differ"
    for one in summary.differences:
        yield one.operation.rsplit("/", 1)[-1]
        yield from (f"  - {fact}" for fact in one.only_recorded)
        yield from (f"  + {fact}" for fact in one.only_replayed)
