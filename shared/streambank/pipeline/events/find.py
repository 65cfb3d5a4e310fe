"""What became of single events, by the ids that callers gave them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from streambank.model import ids
from streambank.model.event import Event, EventMarker
from streambank.model.ids import OperationId
from streambank.model.operation import EventStatus, OperationState
from streambank.model.stream import StreamId
from streambank.model.verdict import RecordedVerdict
from streambank.model.window import Window, WindowState
from streambank.pipeline.generation.detail import DetailContext, forgotten_numbers
from streambank.rules import operations


def find_events(
    bank: str, scope: Mapping[str, str], stream_name: str, event_ids: Sequence[str], *, context: DetailContext
) -> list[EventStatus]:
    """Return the state of each event, and the verdicts on the candidates of its window that cite it.

    Cost: a read for each sealed window of the events, a query for each that is done, and a query for the scope.

    Raises:
        OutOfReach: the table did not answer.
    """
    stream = StreamId(bank, ids.stream_key(scope, stream_name), dict(scope), stream_name or ids.DEFAULT_STREAM)
    named = {event_id: ids.event_key(event_id) for event_id in event_ids}
    snapshot = context.streams.read_snapshot(stream, named.values(), now=context.now)
    markers = {event_id: snapshot.markers[key] for event_id, key in named.items() if key in snapshot.markers}
    open_window = snapshot.head.window if snapshot.head else None
    numbers = sorted({marker.window for marker in markers.values()} - {open_window})
    windows = {number: context.windows.get(bank, stream.sid, number) for number in numbers}
    forgotten = _forgotten(stream, markers, context)
    done = [window for window in windows.values() if window and window.state is WindowState.DONE]
    verdicts = _verdicts(done, {one.seq for event_id, one in markers.items() if event_id not in forgotten}, context)
    return [
        _status(event_id, markers[event_id], stream.sid, windows, verdicts, forgotten)
        if event_id in markers
        else EventStatus(event_id)
        for event_id in named
    ]


def _forgotten(stream: StreamId, markers: Mapping[str, EventMarker], context: DetailContext) -> frozenset[str]:
    """Return the ids of the events that a deleted memory cited; they need not be stored any more."""
    named = dict(enumerate(markers))
    events = {place: Event("user", (), event_id) for place, event_id in named.items()}
    places = forgotten_numbers(stream, events, context=context) if markers else frozenset()
    return frozenset(named[place] for place in places)


def _verdicts(
    windows: Iterable[Window], seqs: Collection[int], context: DetailContext
) -> dict[int, list[RecordedVerdict]]:
    """Return the verdicts on the candidates of *windows* that cite the events with the numbers *seqs*, by these."""
    of_events: dict[int, list[RecordedVerdict]] = {seq: [] for seq in seqs}
    for window in windows:
        number, cited = -1, set[int]()
        for one in context.plans.verdicts(window):
            if one.number != number:
                number, cited = one.number, of_events.keys() & set(one.seqs)
            for seq in cited:
                of_events[seq].append(one)
    return of_events


def _status(
    event_id: str,
    marker: EventMarker,
    sid: str,
    windows: Mapping[int, Window | None],
    verdicts: Mapping[int, Sequence[RecordedVerdict]],
    forgotten: Collection[str],
) -> EventStatus:
    return EventStatus(
        event_id,
        marker.seq,
        OperationId(sid, marker.window),
        _state(sid, marker.window, windows),
        tuple(verdicts.get(marker.seq, ())),
        event_id in forgotten,
        marker.findings,
    )


def _state(sid: str, number: int, windows: Mapping[int, Window | None]) -> OperationState:
    if number not in windows:
        return OperationState.BUFFERING
    window = windows[number]
    return operations.state_of(window) if window else operations.expired(sid, number).state
