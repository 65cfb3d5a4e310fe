"""Reads a window turn by turn, and collects its facts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from streambank.llm.ports import FORGET, Turn
from streambank.model.memory import ManagedTopic
from streambank.rules.recalled_memories import remove_recalled
from streambank_local.basic.assistant_claims import claim_about_user, correctable, ends_with_question, repeats_value
from streambank_local.basic.clauses import split_clauses
from streambank_local.basic.coreference import Antecedent, find_antecedent, replace_pronoun, stays_unambiguous
from streambank_local.basic.corrections import (
    announces_correction,
    correction_of_claim,
    is_bare_no,
    parse_correction,
    replace_value,
)
from streambank_local.basic.dates import local_time, resolve_dates
from streambank_local.basic.ellipsis import add_subject
from streambank_local.basic.fact_list import FactList, PendingFact
from streambank_local.basic.instructions import is_planted, is_standing_instruction
from streambank_local.basic.language import is_foreign, is_statement
from streambank_local.basic.meaning import Meaning, named_people, parse_meaning
from streambank_local.basic.memory_requests import (
    EVERYTHING,
    LAST_STATEMENT,
    forget_request,
    forget_targets,
    remember_request,
)
from streambank_local.basic.people import introduced_names
from streambank_local.basic.relevance import is_concrete, is_retraction, may_be_fact
from streambank_local.basic.sentences import (
    clean,
    is_question,
    is_tagged_statement,
    remove_code,
    split_sentences,
    trim,
)
from streambank_local.basic.short_answers import complete_answer, is_agreement, last_question
from streambank_local.basic.topics import classify_topic

# A question can be answered for so many turns.
_QUESTION_LASTS = 3
# A statement can be called a joke in the same turn, or in the user's next turn.
_JUST_NOW_TURNS = 2
# A lead-in that may be a statement: "I moved to Linz, so forget my old address".
_FIRST_PERSON = re.compile(r"(?:i|i'm|i've|my|we|we're|we've|our)\b", re.IGNORECASE)
_OPEN_INVITATION = re.compile(r"\b(?:tell|you|share|go on|go ahead)\b|\?", re.IGNORECASE)


@dataclass(slots=True)
class _Question:
    text: str
    turn: int
    age: int = 0


@dataclass(slots=True)
class Reader:
    """Reads turns in order, and collects the facts about the user."""

    time_zone: str
    _facts: FactList = field(default_factory=FactList)
    _forget_requests: dict[str, PendingFact] = field(default_factory=dict)
    _question: _Question | None = None
    _people: set[str] = field(default_factory=set)
    _expects_correction: bool = False
    _has_denied: bool = False
    _claim: PendingFact | None = None
    _guess: PendingFact | None = None
    _antecedent: Antecedent | None = None

    def read(self, turn: Turn) -> None:
        """Read *turn*."""
        text = remove_code(remove_recalled(turn.text))
        self._people.update(introduced_names(text))
        if turn.role == "user":
            self._expects_correction, self._has_denied = False, False
            self._read_user(turn, text)
            self._guess = None
        else:
            self._claim = self._read_claim(turn, text)
            self._guess = self._claim if ends_with_question(text) else None
            if self._antecedent is not None and not stays_unambiguous(self._antecedent, text):
                self._antecedent = None
        self._remember_question(turn, text)

    def facts(self) -> list[PendingFact]:
        """Return the facts of the turns that are not context, in order."""
        return [fact for fact in (*self._facts, *self._forget_requests.values()) if fact.own]

    def _read_user(self, turn: Turn, text: str) -> None:
        planted = is_planted(text)
        for sentence in split_sentences(text):
            if is_retraction(clean(sentence)):
                self._retract(turn)
            else:
                self._read_sentence(turn, sentence, planted=planted)

    def _retract(self, turn: Turn) -> None:
        """Remove the last fact if it was stated just before *turn*, which calls it a joke."""
        latest = self._facts.last()
        if latest is not None and turn.number - latest.events[-1] <= _JUST_NOW_TURNS:
            self._facts.remove(latest)

    def _read_sentence(self, turn: Turn, sentence: str, *, planted: bool) -> None:
        plain, claim = trim(sentence), self._claim
        self._claim = None
        if not plain or (not planted and self._read_forget_request(turn, clean(plain))):
            return
        if is_question(sentence) and not is_tagged_statement(sentence):
            self._antecedent = None
            self._read_question(turn, clean(plain), planted=planted)
        elif is_foreign(plain):
            self._keep_foreign(turn, plain)
        elif not self._read_answer(turn, plain) and not self._read_correction(turn, plain, claim):
            self._read_statement(turn, clean(plain), planted=planted)

    def _read_question(self, turn: Turn, sentence: str, *, planted: bool) -> None:
        """Read "can you remember that I'm vegan?" as a request; other questions state nothing."""
        if not planted and remember_request(sentence) is not None:
            self._read_statement(turn, sentence, planted=planted)

    def _keep_foreign(self, turn: Turn, sentence: str) -> None:
        if is_statement(sentence):
            self._add(turn, sentence, topic=ManagedTopic.USER_PERSONAL_INFO)

    def _read_answer(self, turn: Turn, sentence: str) -> bool:
        if self._guess is not None and is_agreement(sentence):
            self._add(turn, self._guess.text, cited=self._guess.events)
            return True
        question = self._question
        if question is None or turn.number == question.turn:
            return False
        whole = complete_answer(question.text, sentence)
        if whole is None:
            return False
        self._add(turn, whole, cited=(question.turn,))
        self._antecedent = find_antecedent(whole)
        self._question = None
        return True

    def _read_correction(self, turn: Turn, sentence: str, claim: PendingFact | None) -> bool:
        if claim is not None and self._read_contradiction(turn, sentence, claim):
            return True
        if announces_correction(sentence):
            self._expects_correction = True
            return True
        correction = parse_correction(sentence, announced=self._expects_correction)
        self._expects_correction = False
        if correction is None:
            return False
        return self._correct(turn, *correction)

    def _read_contradiction(self, turn: Turn, sentence: str, claim: PendingFact) -> bool:
        """Read "No, Linz" as a correction of *claim*; after "No" alone the next sentence may be one."""
        if is_bare_no(sentence):
            self._claim, self._has_denied = claim, True
            return True
        right = correction_of_claim(f"No, {sentence}" if self._has_denied else sentence, claim)
        self._has_denied = False
        text = replace_value(claim, right, None) if right is not None else None
        if text is None:
            return False
        self._facts.remove(claim)
        self._add(turn, text, cited=claim.events)
        return True

    def _read_claim(self, turn: Turn, text: str) -> PendingFact | None:
        """Return the claim that the user may contradict after a model's *turn*."""
        claim = claim_about_user(text)
        if claim is not None:
            return correctable(PendingFact(claim, (turn.number,), "", parse_meaning(claim), own=False))
        return self._claim if self._claim is not None and repeats_value(text, self._claim) else None

    def _correct(self, turn: Turn, right: str, wrong: str | None) -> bool:
        latest = self._facts.last() if wrong else self._facts.last_with_slot()
        text = replace_value(latest, right, wrong) if latest is not None else None
        if latest is None or text is None:
            return False
        self._facts.remove(latest)
        self._add(turn, text, cited=latest.events)
        return True

    def _read_forget_request(self, turn: Turn, sentence: str) -> bool:
        request = forget_request(sentence)
        if request is None:
            return False
        what, lead = request
        cited: tuple[int, ...] = ()
        if what == LAST_STATEMENT:
            latest = self._facts.last()
            if latest is None:
                return True
            what, cited = latest.text, latest.events
        for each in forget_targets(what, sentence):
            self._forget(turn, each, cited)
        if _FIRST_PERSON.match(lead):
            self._read_statement(turn, clean(lead), planted=False)
        return True

    def _forget(self, turn: Turn, what: str, cited: tuple[int, ...]) -> None:
        meaning = parse_meaning(what)
        if what == EVERYTHING:
            self._facts.clear()
        else:
            self._facts.forget(meaning)
        events = tuple(sorted({*cited, turn.number}))
        text = f"{FORGET}{what}"
        self._forget_requests[text] = PendingFact(
            text, events, ManagedTopic.EXPLICIT_INSTRUCTIONS, meaning, not turn.context
        )

    def _read_statement(self, turn: Turn, sentence: str, *, planted: bool) -> None:
        requested = None if planted else remember_request(sentence)
        if requested is not None:
            sentence = clean(requested)
        if is_standing_instruction(sentence):
            if not planted:
                self._add(turn, sentence, topic=ManagedTopic.EXPLICIT_INSTRUCTIONS)
            return
        for part in split_clauses(add_subject(sentence)):
            whole = replace_pronoun(part, self._antecedent)
            before = self._antecedent if whole != part else None
            self._antecedent = find_antecedent(whole) or before
            self._read_part(turn, whole, is_requested=requested is not None)

    def _read_part(self, turn: Turn, part: str, *, is_requested: bool) -> None:
        if not is_requested and not may_be_fact(part, self._people):
            return
        meaning = parse_meaning(part)
        if is_requested or is_concrete(part, meaning):
            self._people.update(named_people(meaning))
            self._add(turn, part, meaning=meaning)

    def _add(
        self,
        turn: Turn,
        text: str,
        *,
        topic: str | None = None,
        cited: Iterable[int] = (),
        meaning: Meaning | None = None,
    ) -> None:
        dated_text = text if topic else resolve_dates(text, local_time(turn.at, self.time_zone))
        final_meaning = meaning if meaning is not None and dated_text == text else parse_meaning(dated_text)
        events = tuple(sorted({*cited, turn.number}))
        self._facts.add(
            PendingFact(dated_text, events, topic or classify_topic(final_meaning), final_meaning, not turn.context)
        )
        self._claim = correctable(self._facts.last())

    def _remember_question(self, turn: Turn, text: str) -> None:
        question = last_question(text)
        if question is not None:
            self._question = _Question(question, turn.number)
        elif self._question is not None and not self._is_still_open(self._question, turn, text):
            self._question = None

    @staticmethod
    def _is_still_open(question: _Question, turn: Turn, text: str) -> bool:
        """Tell whether *question* can still be answered: a reply of the model closes it, "tell me" does not."""
        question.age += 1
        waits = turn.role == "model" and _OPEN_INVITATION.search(text) is not None and len(text.split()) <= 8
        return waits and question.age < _QUESTION_LASTS
