"""Numbers of payment cards: 13 to 19 digits with a right check digit, in any spelling with spaces or dashes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from streambank.rules.content_policy.spans import Span

# ISO/IEC 7812-1: an account number has at most 19 digits; no scheme issues fewer than 13 today.
MIN_DIGITS, MAX_DIGITS = 13, 19
# White space, every dash of Unicode, the minus sign, and characters that are not seen.
_SEPARATORS = "\\s\\-\u00ad\u058a\u200b-\u200d\u2010-\u2015\u2060\u2212\ufe58\ufe63\uff0d\ufeff"
_RUN = re.compile(rf"\d[\d{_SEPARATORS}]*")
_GROUP = re.compile(r"\d+")
_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
# The first digits of the schemes: Mir and Mastercard 2, American Express, Diners Club and JCB 3, Visa 4, Mastercard 5,
# Discover, Maestro and UnionPay 6, RuPay 81 and 82.
_FIRST_DIGITS = frozenset({2, 3, 4, 5, 6})


def card_number_spans(text: str) -> Iterator[Span]:
    """Yield each run of whole groups of digits that is the number of a card; runs may overlap. Linear in the text."""
    for run in _RUN.finditer(text):
        if len(run[0]) >= MIN_DIGITS:
            yield from _spans_of_run(text, [Span(*group.span()) for group in _GROUP.finditer(text, *run.span())])


def _spans_of_run(text: str, groups: Sequence[Span]) -> Iterator[Span]:
    """Yield the numbers among *groups* of digits; each group is the first of seven candidates at most."""
    digits = _digits("".join([text[group.start : group.end] for group in groups]))
    ends = list(accumulate(group.end - group.start for group in groups))
    sums = _check_sums(digits)
    last = 0
    for first, group in enumerate(groups):
        start = ends[first] - (group.end - group.start)
        while last < len(ends) and ends[last] - start < MIN_DIGITS:
            last += 1
        if not _may_begin(digits, start):
            continue
        for candidate in range(last, len(ends)):
            if ends[candidate] - start > MAX_DIGITS:
                break
            if _is_card_number(digits, sums, start, ends[candidate]):
                yield Span(group.start, groups[candidate].end)


def _digits(written: str) -> list[int]:
    return [byte - 48 for byte in written.encode()] if written.isascii() else list(map(int, written))


def _check_sums(digits: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the running sums of Luhn's formula, ISO/IEC 7812-1 annex B, with even or with odd places doubled."""
    even = [_DOUBLED[digit] for digit in digits]
    odd = list(digits)
    odd[1::2], even[1::2] = even[1::2], odd[1::2]
    return list(accumulate(even, initial=0)), list(accumulate(odd, initial=0))


def _may_begin(digits: Sequence[int], start: int) -> bool:
    return digits[start] in _FIRST_DIGITS or digits[start : start + 2] in ([8, 1], [8, 2])


def _is_card_number(digits: Sequence[int], sums: tuple[list[int], list[int]], start: int, end: int) -> bool:
    running = sums[end % 2]  # the last digit, at place end - 1, is not doubled
    return (running[end] - running[start]) % 10 == 0 and len(set(digits[start:end])) > 1
