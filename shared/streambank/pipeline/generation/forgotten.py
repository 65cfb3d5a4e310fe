"""Candidates that are older than a request to forget: what was forgotten is not brought back (I11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from streambank.llm.ports import Action, Consolidation, ConsolidationRequest, OfferedFact, OfferedMemory
from streambank.model.bank import BankConfig
from streambank.model.plan import Candidate, ForgetRequest
from streambank.model.usage import Usage
from streambank.model.window import Window
from streambank.rules import forgetting

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
