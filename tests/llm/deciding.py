"""Candidates and memories written as texts, and what the basic consolidator decides about them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from streambank.llm.ports import ConsolidationRequest, Decision, OfferedFact, OfferedMemory
from streambank_local.basic.consolidator import BasicConsolidator

AT = datetime(2023, 5, 24, tzinfo=UTC)


def decided(facts: list[str], memories: list[str], *, days: int = 1) -> list[Decision]:
    """Return the decisions on *facts*, said *days* after the evidence for *memories*."""
    offered = tuple(OfferedFact(n, fact, None, AT + timedelta(days=days)) for n, fact in enumerate(facts, 1))
    known = tuple(OfferedMemory(n, memory, AT) for n, memory in enumerate(memories, 1))
    return list(BasicConsolidator().consolidate(ConsolidationRequest(offered, known)).decisions)
