"""The outcomes as a table that is readable as it is and in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.peers import conversation
from benchmarks.peers.ways import Outcome, Way

HEADINGS = (
    "driven by",
    "version",
    "model calls",
    "characters sent",
    "of them fresh",
    "received",
    "embedding calls",
    "texts embedded",
    "memories",
    "outdated",
    "twice",
)
_WORDS = 2


def about() -> str:
    """Return a line on the conversation."""
    turns = conversation.turns()
    messages = conversation.messages(turns)
    told = Counter(turn.fact for turn in turns if turn.fact)
    lasting = conversation.lasting()
    return (
        f"{len(messages)} messages of {sum(len(one.text) for one in messages) // len(messages)} characters on average; "
        f"they tell {len(lasting)} things, {len(told) - len(lasting)} of them with a correction, "
        f"{told.total() - len(told)} a second time word for word"
    )


def lines(rows: Sequence[tuple[Way, Outcome]]) -> Iterator[str]:
    """Yield the table's lines, and how each row came about."""
    table = [HEADINGS, *(_cells(way, outcome) for way, outcome in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(HEADINGS))]
    rule = [f"{'-' * (width - 1)}{'-' if column < _WORDS else ':'}" for column, width in enumerate(widths)]
    for row in (table[0], rule, *table[1:]):
        yield f"| {' | '.join(_padded(cell, widths[column], column) for column, cell in enumerate(row))} |"
    yield ""
    yield from (f"- {way.name}: {way.how}" for way, _ in rows)


def _padded(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column < _WORDS else cell.rjust(width)


def _cells(way: Way, outcome: Outcome) -> tuple[str, ...]:
    tally, kept, lasting = outcome.tally, Counter(outcome.kept), conversation.lasting()
    outdated = sum(count for fact, count in kept.items() if fact not in lasting)
    asked = (tally.model_calls, tally.sent, tally.fresh, tally.received, tally.embedding_calls, tally.embedded)
    counts = (*asked, kept.total(), outdated, kept.total() - len(kept))
    return (way.name, outcome.version, *(f"{count:,}" for count in counts))
