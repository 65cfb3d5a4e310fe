"""`streambank streams` and `streambank usage`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import islice

import click

from streambank_client.types import StreamStatus, Usage
from streambank_local.command.connection import Connection, connected


@click.command(epilog="\b\nExample:\n  streambank streams --limit 20\n")
@connected
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True, help="at most this many")
def streams(connection: Connection, limit: int) -> None:
    """List streams: what waits in each, what fires next, and how its newest window ended."""
    page = list(islice(connection.bank().list_streams(page_size=min(limit, 1_000)), limit))
    lines = [_stream_line(one) for one in page] or ["There are no streams yet."]
    connection.write({"streams": [one.document() for one in page]}, lines)


@click.command(epilog="\b\nExample:\n  streambank usage --from 2026-11-01\n")
@connected
@click.option("--from", "first", type=click.DateTime(["%Y-%m-%d"]), help="the first day, in UTC")
@click.option("--to", "last", type=click.DateTime(["%Y-%m-%d"]), help="the last day, in UTC")
def usage(connection: Connection, first: date | None, last: date | None) -> None:
    """Show the model calls, tokens and estimated cost of each day."""
    report = connection.bank().get_usage(start_date=_day(first), end_date=_day(last))
    connection.write(report.document(), usage_lines(report))


def _day(moment: date | None) -> date | None:
    return date(moment.year, moment.month, moment.day) if moment else None


def _stream_line(one: StreamStatus) -> str:
    owner = ",".join(f"{key}={value}" for key, value in one.scope.items())
    following = f"next {one.next_trigger.kind} at {one.next_trigger.time:%Y-%m-%d %H:%M}" if one.next_trigger else ""
    last = f"last window {one.last_state}" if one.last_state else ""
    failure = f"({one.last_failure})" if one.last_failure else ""
    parts = [f"{owner}  {one.stream_id}  {one.pending_events} pending", following, f"{last} {failure}".strip()]
    return "  ".join(filter(None, parts))


def usage_lines(report: Usage) -> Iterator[str]:
    """Yield the lines of a report."""
    yield f"{'day':10}  {'calls':>7}  {'tokens in':>10}  {'tokens out':>10}  {'US dollars':>10}"
    for name, cost in [*((str(day.date), day) for day in report.days), ("total", report.total)]:
        tokens = f"{cost.input_tokens:>10,}  {cost.output_tokens:>10,}"
        yield f"{name:10}  {cost.model_calls:>7,}  {tokens}  {cost.estimated_cost_usd:>10.4f}"
    if report.total.personal_data_calls:
        calls, units = report.total.personal_data_calls, report.total.personal_data_units
        yield f"personal data: {calls:,} calls of the service, {units:,} units of text, not in the estimate"
    budget = report.daily_token_budget
    yield f"today: {report.tokens_today:,} tokens" + ("" if budget is None else f" of {budget:,}")
