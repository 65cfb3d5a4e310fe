"""The outcomes as a Markdown table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.peers import conversation
from benchmarks.peers.setups import Outcome, Setup

HEADINGS = (
    "driven by",
    "version",
    "model calls",
    "characters sent",
    "of them stable",
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
    """Return a line about the conversation."""
    turns = conversation.turns()
    messages = conversation.messages(turns)
    stated = Counter(turn.fact for turn in turns if turn.fact)
    final = conversation.final_facts()
    return (
        f"{len(messages)} messages of {sum(len(one.text) for one in messages) // len(messages)} characters on average; "
        f"they state {len(final)} facts, {len(stated) - len(final)} of them with a correction, "
        f"{stated.total() - len(stated)} a second time word for word"
    )


def lines(rows: Sequence[tuple[Setup, Outcome]]) -> Iterator[str]:
    """Yield the table's lines, and a description of each row."""
    table = [HEADINGS, *(_cells(setup, outcome) for setup, outcome in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(HEADINGS))]
    rule = [f"{'-' * (width - 1)}{'-' if column < _WORDS else ':'}" for column, width in enumerate(widths)]
    for row in (table[0], rule, *table[1:]):
        yield f"| {' | '.join(_padded(cell, widths[column], column) for column, cell in enumerate(row))} |"
    yield ""
    yield from (f"- {setup.name}: {setup.how}" for setup, _ in rows)


def _padded(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column < _WORDS else cell.rjust(width)


def _cells(setup: Setup, outcome: Outcome) -> tuple[str, ...]:
    counts, memories, final = outcome.counts, Counter(outcome.memories), conversation.final_facts()
    outdated = sum(count for fact, count in memories.items() if fact not in final)
    requests = (counts.model_calls, counts.sent, counts.stable, counts.fresh)
    requests += (counts.received, counts.embedding_calls, counts.embedded)
    numbers = (*requests, memories.total(), outdated, memories.total() - len(memories))
    return (setup.name, outcome.version, *(f"{number:,}" for number in numbers))
