"""Splits a window that is longer than a model's budget into chunks, in order and without leaving anything out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from streambank.model.turn import Turn
from streambank.rules.tokens import BYTES_PER_TOKEN, estimate_tokens

# The tokens of a turn beside its text: number, role, time and the JSON around them.
_TURN_TOKENS = 40
# The last turns of a chunk come before the next chunk as context, within this share of the budget.
_CONTEXT_TURNS = 6
_CONTEXT_SHARE = 4
# A turn of so few tokens is not split any further.
_SHORT_TURN = 300


def turn_tokens(turn: Turn) -> int:
    return estimate_tokens(turn.text) + _TURN_TOKENS


def split_turns(turns: Sequence[Turn], budget: int) -> list[tuple[Turn, ...]]:
    """Return *turns* in chunks of at most *budget* tokens, context first; a turn that is too long is split.

    Every turn that is not context is in exactly one chunk, or its parts follow each other.
    """
    if sum(map(turn_tokens, turns)) <= budget:
        return [tuple(turns)]
    context = [turn for turn in turns if turn.context]
    chunks: list[list[Turn]] = []
    filled = budget
    room = budget - budget // _CONTEXT_SHARE
    for turn in (part for whole in turns if not whole.context for part in _parts(whole, room)):
        if filled + turn_tokens(turn) > room:
            chunks.append([])
            filled = 0
        chunks[-1].append(turn)
        filled += turn_tokens(turn)
    before = [context, *(chunk[-_CONTEXT_TURNS:] for chunk in chunks[:-1])]
    room = budget // _CONTEXT_SHARE
    return [(*_context(earlier, room), *chunk) for earlier, chunk in zip(before, chunks, strict=False)]


def halve_turns(chunk: Sequence[Turn]) -> list[tuple[Turn, ...]]:
    """Return *chunk* in two halves, or an empty list if it has only one short turn that is not context."""
    context = tuple(turn for turn in chunk if turn.context)
    own = [turn for turn in chunk if not turn.context]
    if len(own) == 1 and turn_tokens(own[0]) > _SHORT_TURN:
        own = list(_parts(own[0], turn_tokens(own[0]) * 2 // 3))
    if len(own) < 2:
        return []
    middle = len(own) // 2
    earlier = _context(own[max(0, middle - _CONTEXT_TURNS) : middle], sum(map(turn_tokens, own[:middle])))
    return [(*context, *own[:middle]), (*earlier, *own[middle:])]


def _context(turns: Sequence[Turn], room: int) -> list[Turn]:
    """Return the last of *turns* that fit into *room* tokens, marked as context."""
    context: list[Turn] = []
    for turn in reversed(turns):
        room -= turn_tokens(turn)
        if room < 0:
            break
        context.append(replace(turn, context=True))
    return context[::-1]


def _parts(turn: Turn, budget: int) -> Iterator[Turn]:
    """Yield *turn*, or its parts if the text is longer than *budget* tokens; it is cut at spaces."""
    limit = max(1, int((budget - _TURN_TOKENS) * BYTES_PER_TOKEN) - 4)
    rest = turn.text
    if estimate_tokens(rest) + _TURN_TOKENS <= budget:
        yield turn
        return
    while rest:
        end = _cut_position(rest, limit)
        yield replace(turn, text=rest[:end])
        rest = rest[end:]


def _cut_position(text: str, limit: int) -> int:
    """Return where to cut *text* so that it has at most *limit* bytes: at a space if the second half has one."""
    fits = len(text.encode(errors="replace")[:limit].decode(errors="ignore")) or 1
    if fits >= len(text):
        return len(text)
    space = text.rfind(" ", fits // 2, fits)
    return space + 1 if space > 0 else fits
