"""Consent and findings in the lines of an export: what is written is read again, and nothing else is."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from streambank.errors import InvalidArgument
from streambank.model.consent import Consent, Learning
from streambank.model.content_policy import Finding, PolicyAction
from streambank.model.event import Event
from streambank.model.ids import stream_key
from streambank.model.record import BatchRecord, ConsentRecord, MarkerRecord
from streambank.model.stream import StreamId
from streambank.wire import record

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SCOPE = {"user_id": "1"}
STREAM = StreamId("b", stream_key(SCOPE, "s"), SCOPE, "s")
FOUND = (Finding("CARDS", PolicyAction.REDACT, 2), Finding("MEDICAL", PolicyAction.TAG, 1))


def consent(*changes: Learning) -> Consent:
    made = Consent()
    for hour, learning in enumerate(changes):
        made = made.changed_to(learning, now=NOW + timedelta(hours=hour))
    return made


@pytest.mark.parametrize(
    "one",
    [
        ConsentRecord(SCOPE, consent(Learning.DISABLED)),
        ConsentRecord(SCOPE, consent(Learning.DISABLED, Learning.ENABLED, Learning.DISABLED)),
        BatchRecord(STREAM, 1, 1, NOW, (Event("user", ({"text": "x"},), "a", NOW, FOUND), Event("model", ())), NOW),
        MarkerRecord(STREAM, "k" * 26, 1, 1, NOW, b"f" * 12, FOUND),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_line_is_read_as_it_was_written(one: Any) -> None:
    """Pauses and findings survive an export and an import."""
    assert record.read(record.line(one), "b") == one


@pytest.mark.parametrize(
    "pauses",
    [
        [],
        [{"startTime": "nonsense"}],
        [{"startTime": "2026-03-02T00:00:00Z", "endTime": "2026-03-01T00:00:00Z"}],
        [{"startTime": "2026-03-01T00:00:00Z"}, {"startTime": "2026-03-02T00:00:00Z"}],
        [{"startTime": "2026-03-01T00:00:00Z", "endTime": "2026-03-02T00:00:00Z"}] * 21,
    ],
)
def test_pauses_out_of_order_are_refused(pauses: list[dict[str, str]]) -> None:
    """A line that no export writes is refused: an import would forbid or allow what nobody said."""
    line = {"kind": "consent", "version": 1, "scope": SCOPE, "pauses": pauses}
    with pytest.raises(InvalidArgument, match="pauses"):
        record.read(json.dumps(line).encode(), "b")


@pytest.mark.parametrize(
    "found",
    [
        "CARDS",
        [{"rule": "CARDS"}],
        [{"rule": "CARDS", "action": "BURN", "count": 1}],
        [{"rule": "CARDS", "action": "TAG", "count": 0}],
        [{"rule": "C" * 65, "action": "TAG", "count": 1}],
        [{"rule": "CARDS", "action": "TAG", "count": 1}] * 51,
    ],
)
def test_wrong_findings_are_refused(found: Any) -> None:
    """What a rule found has a name, an action and a number, each within its limits."""
    line = json.loads(record.line(BatchRecord(STREAM, 1, 1, NOW, (Event("user", (), "a", NOW, FOUND),), NOW)))
    line["events"][0]["contentPolicy"] = found
    with pytest.raises(InvalidArgument, match="contentPolicy"):
        record.read(json.dumps(line).encode(), "b")
