"""Screening texts by a content policy: matches are replaced by markers and counted, and never kept."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from streambank.errors import Unavailable
from streambank.model.content_policy import ContentPolicy, Detector, Finding, PolicyAction, PolicyRule
from streambank.rules.content_policy.card_numbers import card_number_spans
from streambank.rules.content_policy.credentials import credential_spans
from streambank.rules.content_policy.spans import AskService, Cut, Span, merged, without_cuts
from streambank.rules.filtering.regex import compile_spans

T = TypeVar("T")
# A marker of any rule: `PolicyRule.marker`, and the names that a rule may have.
_MARKER = re.compile(r"\[REDACTED:[A-Z_]{1,36}[0-9]{0,3}\]")
Find = Callable[[str], Iterable[Span]]
# Text beside a marker may match where the whole did not; after so many rounds nothing real does.
_ROUNDS = 5
# Stands for a match where markers would make the text too long: it is never longer than the match.
_SHORT_MARKER = "***"


@lru_cache(maxsize=8)
def _finders(policy: ContentPolicy) -> tuple[tuple[PolicyRule, Find | None], ...]:
    """Return the rules with what finds their matches; None stands for the service."""
    return tuple((rule, _finder(rule)) for rule in policy.rules)


def _finder(rule: PolicyRule) -> Find | None:
    match rule.detector:
        case Detector.CREDENTIALS:
            return credential_spans
        case Detector.CARD_NUMBERS:
            return card_number_spans
        case Detector.PERSONAL_DATA:
            return None
    find = compile_spans(rule.pattern)
    return lambda text: (Span(*span) for span in find(text))


@dataclass(frozen=True, slots=True)
class _Markers:
    """The markers that are in a text already, in their order."""

    starts: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def of(cls, text: str, policy: ContentPolicy) -> _Markers:
        """Return the markers of *policy* in *text*."""
        known = {rule.marker for rule in policy.rules}
        spans = [match.span() for match in _MARKER.finditer(text) if match[0] in known]
        return cls([start for start, _ in spans], [end for _, end in spans])

    def hold(self, span: Span) -> bool:
        """Tell whether *span* is a part of one of them."""
        before = bisect_right(self.starts, span.start) - 1
        return before >= 0 and span.end <= self.ends[before]

    def widen(self, span: Span) -> Span:
        """Return *span* with the whole of each marker that it cuts."""
        first, last = bisect_right(self.ends, span.start), bisect_left(self.starts, span.end) - 1
        if first > last:
            return span
        return Span(min(span.start, self.starts[first]), max(span.end, self.ends[last]))


@dataclass(slots=True)
class Screen:
    """Applies *policy* to the texts of one request and counts what it finds; *ask* is the service, if needed.

    What a rule with REFUSE matches is replaced as well: the caller decides whether the request can still be refused.
    """

    policy: ContentPolicy
    ask: AskService | None = None
    _counts: Counter[PolicyRule] = field(default_factory=Counter)
    _answers: dict[str, Sequence[Span]] = field(default_factory=dict)

    def take_findings(self) -> tuple[Finding, ...]:
        """Return what was found since the last call, in the order of the rules."""
        by_name = Counter[tuple[str, PolicyAction]]()
        for rule in self.policy.rules:
            by_name[rule.name, rule.action] += self._counts[rule]
        self._counts.clear()
        return tuple(Finding(name, action, count) for (name, action), count in by_name.items() if count)

    def read_ahead(self, texts: Iterable[str]) -> None:
        """Ask the service about *texts* in one go, where the policy needs it. Raises what the service raises."""
        if self.policy.needs_service:
            self._ask_about([text for text in dict.fromkeys(texts) if text.strip() and text not in self._answers])

    def _ask_about(self, texts: Sequence[str]) -> None:
        if texts and self.ask is None:
            raise Unavailable(
                "the bank's content policy names PERSONAL_DATA, and this deployment has no detector for it"
            )
        if texts and self.ask:
            self._answers |= dict(zip(texts, self.ask(texts), strict=True))

    def text(self, text: str, *, room: int = 0) -> str:
        """Return *text* without what the rules remove; it is at most *room* bytes longer than before."""
        [screened] = self.pieces([text], room=room)
        return screened

    def pieces(self, texts: Sequence[str], *, room: int = 0) -> list[str]:
        """Return *texts*, which are one text in pieces, as `text` does."""
        whole = "".join(texts)
        if not whole:
            return list(texts)
        pieces = self._in_rounds(texts, is_short=False)
        if pieces == texts or _bytes(pieces) <= _bytes(texts) + room:
            return pieces
        counts = self._counts.copy()
        short = self._in_rounds(texts, is_short=True)
        self._counts = counts
        return short

    def _in_rounds(self, texts: Sequence[str], *, is_short: bool) -> list[str]:
        pieces = list(texts)
        for number in range(_ROUNDS):
            cuts = list(self._cuts("".join(pieces), is_first=number == 0, is_short=is_short))
            if not cuts:
                break
            pieces = without_cuts(pieces, merged(cuts))
        return pieces

    def _cuts(self, text: str, *, is_first: bool, is_short: bool) -> Iterator[Cut]:
        """Yield what is to be removed from *text*, and count matches; markers that are there already stay."""
        markers = _Markers.of(text, self.policy)
        for rule, find in _finders(self.policy):
            for span in find(text) if find else self._of_service(text, is_first=is_first):
                if span.start == span.end or markers.hold(span):
                    continue
                if rule.action is PolicyAction.TAG:
                    self._counts[rule] += is_first
                    continue
                self._counts[rule] += 1
                start, end = markers.widen(span)
                marker = _SHORT_MARKER[: end - start] if is_short else rule.marker
                yield Cut(start, end, marker)

    def _of_service(self, text: str, *, is_first: bool) -> Sequence[Span]:
        """Return personal data in *text*; what was removed from a text is not asked about again."""
        if not is_first or not text.strip():
            return ()
        if text not in self._answers:
            self._ask_about([text])
        return self._answers.get(text, ())

    # ---- values

    def value(self, value: Any, *, room: int = 0) -> Any:
        """Return a JSON value with all its texts screened, names of fields and numbers too."""
        return self._within(room, value, lambda each: self._value(value, each))

    def _within(self, room: int, before: T, make: Callable[[int], T]) -> T:
        """Return what *make* makes of *before* with room in each text, or without where it grew too much together."""
        counts = self._counts.copy()
        made = make(room)
        if room and made != before and _bytes([_json(made)]) > _bytes([_json(before)]) + room:
            self._counts = counts
            return make(0)
        return made

    def _value(self, value: Any, room: int) -> Any:
        match value:
            case str():
                return self.text(value, room=room)
            case Mapping():
                return self._mapping(value, room)
            case list() | tuple():
                return [self._value(item, room) for item in value]
            case bool() | None:
                return value
            case int() | float():
                return self._number(value)
        return value

    def _mapping(self, value: Mapping[str, Any], room: int) -> dict[str, Any]:
        screened: dict[str, Any] = {}
        for key, item in value.items():
            name = self.text(key, room=room)
            while name in screened:
                name += "_"
            screened[name] = self._value(item, room)
        return screened

    def _number(self, number: float) -> float | str:
        """Return a number, or a text where it holds what the rules remove; the service is not asked about it."""
        written = json.dumps(number)
        self._answers.setdefault(written, ())
        screened = self.text(written, room=len(max((rule.marker for rule in self.policy.rules), key=len)))
        return number if screened == written else screened

    def parts(self, parts: Sequence[Mapping[str, Any]], *, room: int = 0) -> tuple[dict[str, Any], ...]:
        """Return the parts of a content: its text parts are one text, as a model reads them."""
        return self._within(room, tuple(map(dict, parts)), lambda each: self._parts(parts, each))

    def _parts(self, parts: Sequence[Mapping[str, Any]], room: int) -> tuple[dict[str, Any], ...]:
        texts = [part["text"] if _has_text(part) else "" for part in parts]
        screened = self.pieces(texts, room=room)
        return tuple(
            {
                **self._mapping({name: item for name, item in part.items() if name != "text"}, room),
                **({"text": text} if _has_text(part) else {}),
            }
            for part, text in zip(parts, screened, strict=True)
        )


def texts_of_parts(parts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the texts of a content that `Screen.parts` looks at."""
    yield "".join(part["text"] for part in parts if _has_text(part))
    for part in parts:
        yield from texts_of({name: item for name, item in part.items() if name != "text"})


def texts_of(value: Any) -> Iterator[str]:
    """Yield the texts of a JSON value that `Screen.value` looks at."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from texts_of(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_of(item)


def _has_text(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("text"), str)


def _bytes(texts: Iterable[str]) -> int:
    return sum(len(text.encode(errors="surrogatepass")) for text in texts)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
