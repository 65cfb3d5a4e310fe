"""Windows written as lines, and what the basic extractor makes of them."""

from __future__ import annotations

from datetime import UTC, datetime

from streambank.llm.ports import ExtractedFact, ExtractionRequest, Turn
from streambank_local.basic.extractor import BasicExtractor

AT = datetime(2023, 5, 24, 4, 45, tzinfo=UTC)


def turn(number: int, line: str, at: datetime = AT) -> Turn:
    """Return a turn from its short form: "~" marks context, ">" the model."""
    context, rest = line.startswith("~"), line.removeprefix("~")
    return Turn(number, "model" if rest.startswith(">") else "user", rest.removeprefix(">"), at, context)


def extracted(*lines: str, at: datetime = AT, **options: object) -> tuple[ExtractedFact, ...]:
    turns = tuple(turn(number, line, at) for number, line in enumerate(lines, 1))
    facts = BasicExtractor().extract(ExtractionRequest(turns, **options)).facts  # type: ignore[arg-type]
    return tuple(fact for fact in facts if not fact.problem)


def dropped(*lines: str, **options: object) -> dict[str, str]:
    """Return the sentences that are not remembered, and why."""
    turns = tuple(turn(number, line) for number, line in enumerate(lines, 1))
    facts = BasicExtractor().extract(ExtractionRequest(turns, **options)).facts  # type: ignore[arg-type]
    return {fact.fact: fact.problem for fact in facts if fact.problem}


def told(*lines: str, at: datetime = AT, **options: object) -> list[str]:
    return [fact.fact for fact in extracted(*lines, at=at, **options)]
