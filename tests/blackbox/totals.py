"""The totals at the end of a history."""

from __future__ import annotations

from typing import Any

from tests.blackbox.books import Bank
from tests.blackbox.chats import check_chats
from tests.blackbox.tenants import World

_PERIOD = "startDate=2026-01-01&endDate=2026-12-31"


def check_totals(world: World, bank: Bank) -> None:
    """Operations and usage of a bank add up to the windows and events of the books."""
    rows = world.calls.pages(bank.operator, f"{bank.path}/operations", "operations")
    rows = [row for row in rows if "window" in row["metadata"]]
    for row in rows:
        assert row["done"], f"a window that has not ended: {row}"
    by_name = {row["name"]: row for row in rows}
    assert len(by_name) == len(rows), "an operation is listed twice"
    missing = bank.windows - set(by_name)
    assert not missing, f"windows without an operation: {missing}"
    for name in bank.windows:
        _check_window(bank, by_name[name])
    check_chats(world, bank)
    # A window that was erased before its generation has an error, and may have cost nothing.
    _check_usage(world, bank, sum("error" not in by_name[name] for name in bank.windows), 2 * len(rows))


def _check_window(bank: Bank, row: dict[str, Any]) -> None:
    """A window that was generated covers its events, and makes one memory of each."""
    streams = [s for s in bank.streams.values() if any(event.operation == row["name"] for event in s.events)]
    assert len(streams) == 1, f"{row['name']} has events of {len(streams)} streams"
    events = [event for event in streams[0].events if event.operation == row["name"]]
    assert "error" not in row or any(event.is_erased for event in events), f"a generation failed: {row}"
    if "error" in row or any(event.is_erased for event in events):
        return
    coverage, verdicts = row["metadata"]["coverage"], row["metadata"].get("verdictCounts", {})
    read = coverage["covered"] + sum(coverage.get("notCovered", {}).values())
    assert read == coverage["events"], f"not all events were read: {row}"
    facts = len({event.text for event in events})
    assert verdicts.get("CREATED", 0) == facts, f"the window must make {facts} memories: {row}"
    if not streams[0].has_overlap:
        assert coverage["events"] == len(events), f"the window must hold {len(events)} events: {row}"


def _check_usage(world: World, bank: Bank, least: int, most: int) -> None:
    """A window costs one call of the model, or two; the days add up to the total."""
    usage = world.calls.ok(bank.reader, "GET", f"{bank.path}/usage?{_PERIOD}")
    total = usage["total"]
    assert total["modelCalls"] == sum(day["modelCalls"] for day in usage["days"])
    assert least <= total["modelCalls"] <= most, f"{total['modelCalls']} calls must be {least} to {most}"
