"""How a window that is longer than a model's budget is put to it: in order, piece by piece, nothing left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from streambank.model.turn import Turn

# How many bytes of UTF-8 a token is taken for, on the safe side: English has about four characters a token,
# scripts of three bytes a character up to one and a half tokens a character.
_BYTES_A_TOKEN = 2.5
# What a turn costs beside its text: its number, role, time and the JSON around them.
_TURN_TOKENS = 40
# The last turns of a piece go before the next one as context, within this share of the budget.
_CARRIED_TURNS = 6
_CONTEXT_SHARE = 4
# A turn of this many tokens is not cut any further.
_SHORT_TURN = 300


def estimate_tokens(text: str) -> int:
    """Return how many tokens *text* may take at most, roughly."""
    return int(len(text.encode(errors="replace")) / _BYTES_A_TOKEN) + 1


def turn_tokens(turn: Turn) -> int:
    return estimate_tokens(turn.text) + _TURN_TOKENS


def split_turns(turns: Sequence[Turn], budget: int) -> list[tuple[Turn, ...]]:
    """Return *turns* in runs of at most *budget* tokens, context first; a turn that is too long goes in parts.

    Every turn that is not context is in exactly one run, whole or in parts that follow each other.
    """
    if sum(map(turn_tokens, turns)) <= budget:
        return [tuple(turns)]
    context = [turn for turn in turns if turn.context]
    found: list[list[Turn]] = []
    filled = budget
    room = budget - budget // _CONTEXT_SHARE
    for turn in (part for whole in turns if not whole.context for part in _parts(whole, room)):
        if filled + turn_tokens(turn) > room:
            found.append([])
            filled = 0
        found[-1].append(turn)
        filled += turn_tokens(turn)
    before = [context, *(run[-_CARRIED_TURNS:] for run in found[:-1])]
    return [(*_context(carried, budget // _CONTEXT_SHARE), *run) for carried, run in zip(before, found, strict=False)]


def halve_turns(piece: Sequence[Turn]) -> list[tuple[Turn, ...]]:
    """Return *piece* in two, or nothing where it has a single turn of its own that is short."""
    context = tuple(turn for turn in piece if turn.context)
    own = [turn for turn in piece if not turn.context]
    if len(own) == 1 and turn_tokens(own[0]) > _SHORT_TURN:
        own = list(_parts(own[0], turn_tokens(own[0]) * 2 // 3))
    if len(own) < 2:
        return []
    middle = len(own) // 2
    carried = _context(own[max(0, middle - _CARRIED_TURNS) : middle], sum(map(turn_tokens, own[:middle])))
    return [(*context, *own[:middle]), (*carried, *own[middle:])]


def _context(turns: Sequence[Turn], room: int) -> list[Turn]:
    """Return the last of *turns* that *room* tokens hold, marked as context."""
    kept: list[Turn] = []
    for turn in reversed(turns):
        room -= turn_tokens(turn)
        if room < 0:
            break
        kept.append(replace(turn, context=True))
    return kept[::-1]


def _parts(turn: Turn, budget: int) -> Iterator[Turn]:
    """Yield *turn*, cut at spaces where its text is longer than *budget* tokens."""
    limit = max(1, int((budget - _TURN_TOKENS) * _BYTES_A_TOKEN) - 4)
    rest = turn.text
    if estimate_tokens(rest) + _TURN_TOKENS <= budget:
        yield turn
        return
    while rest:
        end = _end(rest, limit)
        yield replace(turn, text=rest[:end])
        rest = rest[end:]


def _end(text: str, limit: int) -> int:
    """Return where to cut *text* so that it has at most *limit* bytes, at a space if one is in the last half."""
    fits = len(text.encode(errors="replace")[:limit].decode(errors="ignore")) or 1
    if fits >= len(text):
        return len(text)
    space = text.rfind(" ", fits // 2, fits)
    return space + 1 if space > 0 else fits
