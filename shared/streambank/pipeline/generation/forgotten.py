"""Candidates that are older than a request to forget: what was forgotten is not brought back (I11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from streambank.llm.ports import Action, Consolidation, ConsolidationRequest, OfferedFact, OfferedMemory
from streambank.model.bank import BankConfig
from streambank.model.plan import Candidate, ForgetRequest
from streambank.model.tombstone import Tombstone
from streambank.model.usage import Usage
from streambank.model.window import Window
from streambank.rules import forgetting, moved_tombstones, tombstones
from streambank.rules.consolidation import is_forget_request
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.store.windows import Windows


class DeletionContext(Protocol):
    """What the check against deleted memories needs."""

    @property
    def windows(self) -> Windows: ...

    @property
    def id_secret(self) -> bytes: ...


def reject_deleted(
    candidates: Sequence[Candidate], left: Sequence[Tombstone], window: Window, context: DeletionContext
) -> list[Candidate]:
    """Return *candidates*, those that would bring back what was deleted as rejected; *left* are the scope's tombstones.

    The window's events are read only where there is a tombstone.
    """
    if not left:
        return list(candidates)
    stream = window.stream
    hashes = KeyedHashes.of_scope(context.id_secret, stream.bank, stream.scope)
    events = [*context.windows.overlap(window), *context.windows.events(window)]
    by_seq = hashes.of_events(stream.sid, events)
    mentions = ((stream, one.event) for one in events)
    left = moved_tombstones.with_current_hashes(left, hashes, mentions, [one.fact for one in candidates])
    return [_without_deleted(one, left, hashes, by_seq) for one in candidates]


def _without_deleted(
    candidate: Candidate, left: Sequence[Tombstone], hashes: KeyedHashes, by_seq: Mapping[int, str]
) -> Candidate:
    if not candidate.is_searched or is_forget_request(candidate):
        return candidate
    cited = [by_seq.get(seq, "") for seq in candidate.seqs]
    reason = tombstones.refusal(candidate.fact, cited, hashes.of_text(candidate.fact), candidate.at, left)
    if reason is None and any(tombstones.touches(one, candidate.at, left) for one in candidate.memory_ids):
        reason = forgetting.FORGOTTEN
    return replace(candidate, rejected=reason) if reason else candidate


# A model may name one candidate for each request and answer; a second look finds what the first one left.
_MAX_ROUNDS = 3


def reject_forgotten(
    candidates: Sequence[Candidate],
    requests: Sequence[ForgetRequest],
    window: Window,
    config: BankConfig,
    ask: Callable[[ConsolidationRequest], Consolidation],
    *,
    now: datetime,
) -> tuple[list[Candidate], Usage]:
    """Return *candidates*, those that a later request asks to forget as rejected, and what the model's answers cost.

    The model judges older candidates as it would judge memories. It is asked again while it forgets some, three times
    at most, and not at all where no candidate is older than a request.
    """
    judged, usage = list(candidates), Usage()
    for _ in range(_MAX_ROUNDS):
        pairs = [
            (request, number)
            for number, one in enumerate(judged)
            for request in requests
            if forgetting.guards(request, one, window, now=now)
        ]
        if not pairs:
            return judged, usage
        guarding = list(dict.fromkeys(request for request, _ in pairs))
        older = list(dict.fromkeys(number for _, number in pairs))
        answer = ask(_request(guarding, [judged[number] for number in older], config))
        usage += answer.usage
        forgotten = [pair for pair in _deleted(answer, guarding, older) if pair in pairs]
        if not forgotten:
            return judged, usage
        for _, number in forgotten:
            judged[number] = replace(judged[number], rejected=forgetting.FORGOTTEN)
    return judged, usage


def _request(requests: Sequence[ForgetRequest], older: Sequence[Candidate], config: BankConfig) -> ConsolidationRequest:
    facts = (OfferedFact(number, one.text, None, one.at) for number, one in enumerate(requests, 1))
    memories = (OfferedMemory(number, one.fact, one.at) for number, one in enumerate(older, 1))
    return ConsolidationRequest(tuple(facts), tuple(memories), config.third_person, config.model)


def _deleted(
    answer: Consolidation, requests: Sequence[ForgetRequest], older: Sequence[int]
) -> Iterator[tuple[ForgetRequest, int]]:
    """Yield each request with the number of the candidate that it forgets; numbers not offered are dropped."""
    for one in answer.decisions:
        is_request = one.action is Action.DELETE and 0 < one.fact <= len(requests)
        for number in one.memories if is_request else ():
            if 0 < number <= len(older):
                yield requests[one.fact - 1], older[number - 1]
