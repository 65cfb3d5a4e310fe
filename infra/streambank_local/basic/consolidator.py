"""The basic consolidator: rules in place of a model, for local mode and for tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from streambank.llm.ports import FORGET, Action, Consolidation, ConsolidationRequest, Decision, OfferedFact, Usage
from streambank.model.extraction import FactChange
from streambank_local.basic.clauses import split_clauses
from streambank_local.basic.meaning import Meaning, parse_meaning, with_owner
from streambank_local.basic.memory_requests import EVERYTHING, forget_meaning, is_wide, match_score
from streambank_local.basic.similarity import Relation, find_relation

NEW = "new"
RESTATED = "restates a memory"
REPEATED = "repeats an earlier fact"
REPLACED = "contradicts a memory"
DETAILED = "adds detail to a memory"
SUPERSEDED = "superseded by newer evidence"
SUPERSEDED_BY_FACT = "superseded by a later fact"
FORGOTTEN = "the user asked to forget it"
NOTHING_TO_FORGET = "nothing to forget"
TOO_BROAD = "too broad to forget"

_RANK = {Relation.SAME: 3, Relation.CONTRADICTS: 2, Relation.MORE_DETAILED: 1}


class BasicConsolidator:
    """Decides by rules what candidates mean for existing memories; deterministic and offline."""

    def consolidate(self, request: ConsolidationRequest) -> Consolidation:
        """Return one decision for each fact, in order."""
        plan = _Plan(request)
        for fact in sorted(request.facts, key=lambda fact: _instant(fact.at)):
            plan.decide(fact)
        texts = [*(fact.fact for fact in request.facts), *(memory.fact for memory in request.memories)]
        return Consolidation(plan.decisions(), Usage(calls=1, characters=sum(map(len, texts))))


@dataclass(slots=True)
class _KnownFact:
    """A memory as it is after the decisions so far, or a fact that was added."""

    text: str
    meaning: Meaning
    as_of: datetime
    memory: int | None = None
    before: str = ""
    writer: int | None = None


class _Plan:
    """The decisions so far, and the memories as they would be after them."""

    def __init__(self, request: ConsolidationRequest) -> None:
        self._order = [fact.number for fact in request.facts]
        self._decisions: dict[int, Decision] = {}
        self._parts: list[Decision] = []
        self._facts = [
            _KnownFact(memory.fact, parse_meaning(memory.fact), _instant(memory.as_of), memory.number, memory.fact)
            for memory in request.memories
        ]

    def decisions(self) -> tuple[Decision, ...]:
        """Return the decisions in the order of the facts, then those about parts of memories."""
        return (*(self._decisions[number] for number in self._order), *self._parts)

    def decide(self, fact: OfferedFact) -> None:
        """Decide on *fact*; earlier facts must have been decided before."""
        if fact.fact.startswith(FORGET):
            self._forget(fact)
            return
        meaning = parse_meaning(fact.fact)
        changed = [
            known for known in self._facts if fact.change is FactChange.CHANGES and known.memory in fact.memories
        ]
        related = (Relation.CONTRADICTS, changed[0]) if changed else self._related(fact, meaning)
        if related is None:
            self._create(fact, meaning)
        else:
            self._apply(fact, meaning, *related)

    def _related(self, fact: OfferedFact, meaning: Meaning) -> tuple[Relation, _KnownFact] | None:
        owners = frozenset(known.meaning.owner for known in self._facts)
        related = [
            (kind, known) for known in self._facts if (kind := _relation_to(fact, meaning, known, owners)) is not None
        ]
        return max(related, key=lambda pair: (_RANK[pair[0]], pair[1].text == fact.fact, pair[1].as_of), default=None)

    def _create(self, fact: OfferedFact, meaning: Meaning) -> None:
        self._facts.append(_KnownFact(fact.fact, meaning, _instant(fact.at), writer=fact.number))
        self._decisions[fact.number] = Decision(fact.number, Action.CREATE, text=fact.fact, reason=NEW)

    def _apply(self, fact: OfferedFact, meaning: Meaning, kind: Relation, known: _KnownFact) -> None:
        if kind is Relation.SAME:
            self._keep(fact, known, RESTATED if known.writer is None else REPEATED)
        elif kind is Relation.CONTRADICTS and _instant(fact.at) < known.as_of:
            self._add_to_past(fact, known)
        else:
            self._rewrite(fact, meaning, known, REPLACED if kind is Relation.CONTRADICTS else DETAILED)

    def _keep(self, fact: OfferedFact, known: _KnownFact, reason: str) -> None:
        known.as_of = max(known.as_of, _instant(fact.at))
        self._decisions[fact.number] = Decision(fact.number, Action.NONE, memories=_numbers(known), reason=reason)

    def _add_to_past(self, fact: OfferedFact, known: _KnownFact) -> None:
        """Say what *known* said at the time of *fact*: the service keeps it as the past of the memory."""
        self._keep(fact, known, SUPERSEDED)
        if known.memory is not None:
            past = Decision(fact.number, Action.UPDATE, _numbers(known), fact.fact, SUPERSEDED)
            self._decisions[fact.number] = past

    def _rewrite(self, fact: OfferedFact, meaning: Meaning, known: _KnownFact, reason: str) -> None:
        """Replace *known*, and the earlier fact that wrote it, by *fact*."""
        self._retract(known)
        known.text, known.meaning, known.writer = fact.fact, meaning, fact.number
        known.as_of = max(known.as_of, _instant(fact.at))
        self._decisions[fact.number] = _decision(fact, known, reason)

    def _retract(self, known: _KnownFact, reason: str = SUPERSEDED_BY_FACT) -> None:
        if known.writer is not None:
            self._decisions[known.writer] = Decision(known.writer, Action.NONE, memories=_numbers(known), reason=reason)

    def _forget(self, fact: OfferedFact) -> None:
        what = forget_meaning(fact.fact, FORGET)
        targets = self._matches(what)
        older = [known for known in targets if known.as_of <= _instant(fact.at)]
        if not targets:
            reason = TOO_BROAD if what.plain == EVERYTHING else NOTHING_TO_FORGET
            self._decisions[fact.number] = Decision(fact.number, Action.NONE, reason=reason)
        elif targets[0] not in older and not is_wide(fact.fact.removeprefix(FORGET)):
            self._keep(fact, targets[0], SUPERSEDED)
        else:
            self._delete(fact, what, older if is_wide(fact.fact.removeprefix(FORGET)) else targets[:1])

    def _matches(self, what: Meaning) -> list[_KnownFact]:
        """Return what a request to forget matches, the best first; memories come before facts of this request."""
        fits = [(known, fit) for known in self._facts if (fit := match_score(what, known.meaning)) > 0]
        fits.sort(key=lambda pair: (pair[0].memory is not None, pair[1], pair[0].as_of), reverse=True)
        return [known for known, _ in fits]

    def _delete(self, fact: OfferedFact, what: Meaning, targets: Sequence[_KnownFact]) -> None:
        """Forget *targets*; of a memory with several statements only those that match *what* go."""
        numbers: list[int] = []
        for known in targets:
            self._retract(known, FORGOTTEN)
            rest = [one for one in split_clauses(known.text) if match_score(what, parse_meaning(one)) == 0]
            if known.memory is not None and rest:
                text = " and ".join(rest)
                known.text, known.meaning = text, parse_meaning(text)
                self._parts.append(Decision(fact.number, Action.UPDATE, (known.memory,), text, FORGOTTEN))
                continue
            self._facts.remove(known)
            numbers.extend(_numbers(known))
        action = Action.DELETE if numbers else Action.NONE
        self._decisions[fact.number] = Decision(fact.number, action, memories=tuple(numbers), reason=FORGOTTEN)


def _relation_to(fact: OfferedFact, meaning: Meaning, known: _KnownFact, owners: frozenset[str]) -> Relation | None:
    if known.text == fact.fact:
        return Relation.SAME
    other = known.meaning.owner
    same_owner = with_owner(meaning, other) if _are_one(meaning.owner, other, owners) else meaning
    return find_relation(same_owner, known.meaning)


def _are_one(own: str, other: str, owners: frozenset[str]) -> bool:
    """Tell whether "sister" and "sister Wies" are one person: yes, unless another sister has a name."""
    short, long = sorted((own, other), key=len)
    named = {owner for owner in owners | {own} if owner.startswith(f"{short} ")}
    return bool(short) and named == {long}


def _decision(fact: OfferedFact, known: _KnownFact, reason: str) -> Decision:
    if known.memory is None:
        return Decision(fact.number, Action.CREATE, text=fact.fact, reason=NEW)
    if fact.fact == known.before:
        return Decision(fact.number, Action.NONE, memories=_numbers(known), reason=RESTATED)
    return Decision(fact.number, Action.UPDATE, memories=_numbers(known), text=fact.fact, reason=reason)


def _numbers(known: _KnownFact) -> tuple[int, ...]:
    """Return the number of a memory as a decision has it, none for a fact of the same request."""
    return () if known.memory is None else (known.memory,)


def _instant(at: datetime) -> datetime:
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)
