"""The details of a window in a reply: its events, its candidates, and what became of each."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NotRequired, cast

from typing_extensions import TypedDict

from streambank.errors import InvalidArgument
from streambank.model import window_detail as model
from streambank.model.coverage import NotShown
from streambank.model.extraction import FactChange
from streambank.model.operation import Operation
from streambank.model.verdict import RecordedVerdict, Verdict
from streambank.wire import operation, page_room
from streambank.wire.content_policy import PolicyFinding, findings
from streambank.wire.memory import RawContent
from streambank.wire.operation import WindowOperation
from streambank.wire.page_room import body_bytes
from streambank.wire.reply import Time, rfc3339, without_nulls

# Of one candidate.
MAX_CITED = 100


class View(StrEnum):
    """How much of an operation a reply has."""

    BASIC = "BASIC"
    FULL = "FULL"


class WindowEvent(TypedDict):
    """An event of the window as it was sent; `notShown` is there if the model was not shown it, and says why."""

    sequence: int
    eventId: NotRequired[str | None]
    eventTime: Time
    content: RawContent
    notShown: NotRequired[NotShown | None]
    contentPolicy: NotRequired[list[PolicyFinding] | None]


class CitedEvent(TypedDict):
    sequence: int
    eventId: NotRequired[str | None]


class CandidateVerdict(TypedDict):
    """The verdict on a candidate for one memory."""

    verdict: Verdict
    memory: NotRequired[str | None]
    reason: NotRequired[str | None]


class Candidate(TypedDict):
    """A fact that the model proposed; a candidate that touches several memories has a verdict for each.

    The fact of a profile is JSON, under its `schemaId`. `change` is what the model proposed to do with the memories
    in `changedMemories`, and `text` what they were to say. `eventCount` is there if it cites more events than these.
    """

    number: int
    fact: str
    events: list[CitedEvent]
    eventCount: NotRequired[int | None]
    schemaId: NotRequired[str | None]
    change: NotRequired[FactChange | None]
    changedMemories: NotRequired[list[str] | None]
    text: NotRequired[str | None]
    verdicts: list[CandidateVerdict]


class WindowDetail(TypedDict):
    """The stream, events and candidates of a window, as far as the reply has room; the counts say what is left out.

    `missingEvents` have expired or were erased. `forgottenEvents` were cited by a memory that is deleted, and
    `forgottenCandidates` cite one of these.
    """

    scope: dict[str, str]
    streamId: str
    events: list[WindowEvent]
    omittedEvents: NotRequired[int | None]
    missingEvents: NotRequired[int | None]
    forgottenEvents: NotRequired[int | None]
    candidates: list[Candidate]
    omittedCandidates: NotRequired[int | None]
    forgottenCandidates: NotRequired[int | None]
    offeredMemories: list[str]
    omittedMemories: NotRequired[int | None]


class DetailedOperation(WindowOperation):
    """The operation of a window, with `detail` under `view=FULL`."""

    detail: NotRequired[WindowDetail]


def detailed_operation(one: Operation, detail: model.WindowDetail, bank_name: str) -> DetailedOperation:
    """Return an operation with the details of its window, in one reply: a third of it may be verdicts."""
    reply = cast("DetailedOperation", operation.operation(one, bank_name, page_room.PAGE_BYTES // 3))
    room = page_room.PAGE_BYTES - body_bytes(reply)
    reply["detail"] = window_detail(detail, bank_name, room)
    return reply


def view(text: str | None) -> View:
    """Return the view that a request asks for. Raises InvalidArgument for any other than BASIC and FULL."""
    if text is None:
        return View.BASIC
    if text not in list(View):
        raise InvalidArgument("view", f"must be {' or '.join(View)}")
    return View(text)


def window_detail(one: model.WindowDetail, bank_name: str, most_bytes: int) -> WindowDetail:
    """Return the details of a window, in *most_bytes* of the reply: half of them for events, an eighth for names."""
    events = page_room.first(map(_event, one.events), most_bytes // 2)
    offered = page_room.first((f"{bank_name}/memories/{name}" for name in one.offered), most_bytes // 8)
    left = most_bytes - body_bytes(events) - body_bytes(offered)
    candidates = page_room.first((_candidate(each, one.event_ids, bank_name) for each in one.candidates), left)
    return without_nulls(
        WindowDetail(
            scope=one.stream.scope,
            streamId=one.stream.name,
            events=events,
            omittedEvents=len(one.events) - len(events) or None,
            missingEvents=one.missing_events or None,
            forgottenEvents=one.forgotten_events or None,
            candidates=candidates,
            omittedCandidates=len(one.candidates) - len(candidates) or None,
            forgottenCandidates=one.forgotten_candidates or None,
            offeredMemories=offered,
            omittedMemories=len(one.offered) - len(offered) or None,
        )
    )


def _event(one: model.EventDetail) -> WindowEvent:
    event = one.event.event
    return without_nulls(
        WindowEvent(
            sequence=one.event.seq,
            eventId=event.event_id,
            eventTime=rfc3339(event.time or one.event.arrived),
            content=RawContent(role=event.role, parts=list(event.parts)),
            notShown=one.not_shown,
            contentPolicy=findings(event.findings),
        )
    )


def _candidate(one: model.CandidateDetail, event_ids: Mapping[int, str], bank_name: str) -> Candidate:
    candidate = one.candidate
    cited = [_cited(seq, event_ids) for seq in candidate.seqs[-MAX_CITED:]]
    return without_nulls(
        Candidate(
            number=one.number + 1,
            fact=candidate.fact,
            events=cited,
            eventCount=len(candidate.seqs) if len(candidate.seqs) > MAX_CITED else None,
            schemaId=candidate.profile or None,
            change=candidate.change,
            changedMemories=[f"{bank_name}/memories/{name}" for name in candidate.memory_ids] or None,
            text=candidate.text or None,
            verdicts=[_verdict(verdict, bank_name) for verdict in one.verdicts],
        )
    )


def _cited(seq: int, event_ids: Mapping[int, str]) -> CitedEvent:
    return without_nulls(CitedEvent(sequence=seq, eventId=event_ids.get(seq)))


def _verdict(one: RecordedVerdict, bank_name: str) -> CandidateVerdict:
    memory = f"{bank_name}/memories/{one.memory_id}" if one.memory_id else None
    return without_nulls(CandidateVerdict(verdict=one.verdict, memory=memory, reason=one.reason or None))
