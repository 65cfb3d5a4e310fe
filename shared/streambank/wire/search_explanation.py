"""How the score of a search's hit came about, in replies."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from streambank.model import search as model
from streambank.model.ids import OperationId
from streambank.wire.reply import without_nulls


class MatchedTurns(TypedDict):
    """The turns of a memory that have most words of the query, and the operation of their window."""

    operation: str
    text: str


class SearchExplanation(TypedDict):
    """The parts of a score, there if the request has `explain`.

    `wordShare` is the share of the query's words in the text, absent where no text of the scope has any. `similarity`
    is the cosine of the vectors, absent without vectors to compare. `score` is what they make together.
    """

    wordShare: NotRequired[float | None]
    similarity: NotRequired[float | None]
    score: float
    matchedWords: list[str]
    matchedTurns: NotRequired[MatchedTurns | None]


def search_explanation(one: model.SearchExplanation | None, bank_name: str) -> SearchExplanation | None:
    """Return the explanation of a hit, or None if there is none."""
    if one is None:
        return None
    return without_nulls(
        SearchExplanation(
            wordShare=one.share,
            similarity=one.similarity,
            score=one.score,
            matchedWords=list(one.words),
            matchedTurns=_turns(one.quote, bank_name) if one.quote else None,
        )
    )


def _turns(one: model.Quote, bank_name: str) -> MatchedTurns:
    return MatchedTurns(operation=f"{bank_name}/operations/{OperationId(one.sid, one.window)}", text=one.text)
