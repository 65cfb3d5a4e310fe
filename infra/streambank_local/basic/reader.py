"""Reads a window turn by turn, and collects its facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf

from streambank.llm.ports import FORGET, OfferedMemory, Turn
from streambank.model.memory import ManagedTopic
from streambank.rules.recalled_memories import remove_recalled
from streambank_local.basic import corrections, language, memory_requests, relevance, sentences
from streambank_local.basic.assistant_claims import claim_about_user, correctable, ends_with_question, repeats_value
from streambank_local.basic.clauses import split_clauses
from streambank_local.basic.coreference import Antecedent, find_antecedent, replace_pronoun, stays_unambiguous
from streambank_local.basic.dates import local_time, resolve_dates
from streambank_local.basic.ellipsis import add_subject
from streambank_local.basic.fact_list import FactList, PendingFact
from streambank_local.basic.instructions import is_planted, is_standing_instruction
from streambank_local.basic.meaning import Meaning, named_people, parse_meaning
from streambank_local.basic.people import introduced_names
from streambank_local.basic.short_answers import complete_answer, is_agreement, last_question
from streambank_local.basic.topics import classify_topic
from streambank_local.basic.validity import find_validity

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
    memories: Sequence[OfferedMemory] = ()
    dropped: list[tuple[str, tuple[int, ...], str]] = field(default_factory=list)
    _scrapping: str = ""
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
        """Read *turn*; it does not read the calls and results of tools."""
        if turn.role == "tool":
            return
        text = sentences.remove_code(remove_recalled(turn.text))
        self._people.update(introduced_names(text))
        if turn.role == "user":
            self._expects_correction, self._has_denied, self._scrapping = False, False, ""
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
        own_words, pasted = sentences.split_pasted(text)
        for part in pasted:
            self._drop(turn, part, relevance.PASTED)
        for sentence in sentences.split_sentences(own_words, longest=inf):
            if len(sentence) > sentences.LONGEST_SENTENCE:
                self._drop(turn, sentence, relevance.PASTED)
            elif relevance.is_retraction(sentences.clean(sentence)):
                self._retract(turn)
            else:
                self._read_sentence(turn, sentence, planted=planted)

    def _drop(self, turn: Turn, text: str, reason: str) -> None:
        """Note that *text* of *turn* is not remembered, unless it states nothing or an earlier window read it."""
        if not turn.context and not relevance.states_nothing(sentences.clean(text)):
            self.dropped.append((text, (turn.number,), reason))

    def _retract(self, turn: Turn) -> bool:
        """Remove the last fact if it was stated just before *turn*, which takes it back."""
        latest = self._facts.last()
        if latest is None or turn.number - latest.events[-1] > _JUST_NOW_TURNS:
            return False
        self._facts.remove(latest)
        if latest.own:
            self.dropped.append((latest.text, latest.events, relevance.RETRACTED))
        return latest.own

    def _read_sentence(self, turn: Turn, sentence: str, *, planted: bool) -> None:
        plain, claim = language.without_greeting(sentences.trim(sentence)), self._claim
        self._claim = None
        if not plain or (not planted and self._read_forget_request(turn, sentences.clean(plain))):
            return
        if sentences.is_question(sentence) and not sentences.is_tagged_statement(sentence):
            self._antecedent = None
            self._read_question(turn, sentences.clean(plain), planted=planted)
        elif language.is_foreign(plain):
            self._keep_foreign(turn, plain)
        elif not self._read_answer(turn, plain) and not self._read_correction(turn, plain, claim):
            self._read_statement(turn, self._after_scrapping(turn, sentences.clean(plain)), planted=planted)

    def _after_scrapping(self, turn: Turn, sentence: str) -> str:
        """Return what follows "scrap that", which takes a plan back: of this window, or one of the memories."""
        rest = corrections.rest_after_scrapping(sentence)
        if rest is not None and not self._retract(turn):
            self._scrapping = sentence
        return sentence if rest is None else rest[:1].upper() + rest[1:]

    def _read_question(self, turn: Turn, sentence: str, *, planted: bool) -> None:
        """Read "can you remember that I'm vegan?" as a request; other questions state nothing."""
        if not planted and memory_requests.remember_request(sentence) is not None:
            self._read_statement(turn, sentence, planted=planted)

    def _keep_foreign(self, turn: Turn, sentence: str) -> None:
        if language.is_statement(sentence):
            self._add(turn, sentence, topic=ManagedTopic.USER_PERSONAL_INFO)
        elif not language.DISMISSED.match(sentence):
            self._drop(turn, sentence, relevance.VAGUE)

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
        if corrections.announces_correction(sentence):
            self._expects_correction = True
            return True
        correction = corrections.parse_correction(sentence, announced=self._expects_correction)
        self._expects_correction = False
        if correction is None:
            return False
        return self._correct(turn, *correction) or self._correct_memory(turn, sentence, *correction)

    def _read_contradiction(self, turn: Turn, sentence: str, claim: PendingFact) -> bool:
        """Read "No, Linz" as a correction of *claim*; after "No" alone the next sentence may be one."""
        if corrections.is_bare_no(sentence):
            self._claim, self._has_denied = claim, True
            return True
        right = corrections.correction_of_claim(f"No, {sentence}" if self._has_denied else sentence, claim)
        self._has_denied = False
        text = corrections.replace_value(claim, right, None) if right is not None else None
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
        text = corrections.replace_value(latest, right, wrong) if latest is not None else None
        if latest is None or text is None:
            return False
        self._facts.remove(latest)
        self._add(turn, text, cited=latest.events, is_correction=not latest.own)
        return True

    def _correct_memory(self, turn: Turn, sentence: str, right: str, wrong: str | None) -> bool:
        corrected = corrections.find_corrected(self.memories, sentence, right, wrong)
        if corrected is not None:
            self._add(turn, corrected[1], replaces=corrected[0], is_correction=True)
        return corrected is not None

    def _read_forget_request(self, turn: Turn, sentence: str) -> bool:
        request = memory_requests.forget_request(sentence)
        if request is None:
            return False
        what, lead = request
        cited: tuple[int, ...] = ()
        if what == memory_requests.LAST_STATEMENT:
            latest = self._facts.last()
            if latest is None:
                self._scrapping = sentence
                return True
            what, cited = latest.text, latest.events
        for each in memory_requests.forget_targets(what, sentence):
            self._forget(turn, each, cited)
        if _FIRST_PERSON.match(lead):
            self._read_statement(turn, sentences.clean(lead), planted=False)
        return True

    def _forget(self, turn: Turn, what: str, cited: tuple[int, ...]) -> None:
        meaning = parse_meaning(what)
        if what == memory_requests.EVERYTHING:
            self._facts.clear()
        else:
            self._facts.forget(meaning)
        events = tuple(sorted({*cited, turn.number}))
        text = f"{FORGET}{what}"
        self._forget_requests[text] = PendingFact(
            text, events, ManagedTopic.EXPLICIT_INSTRUCTIONS, meaning, not turn.context
        )

    def _read_statement(self, turn: Turn, sentence: str, *, planted: bool) -> None:
        requested = None if planted else memory_requests.remember_request(sentence)
        if requested is not None:
            sentence = sentences.clean(requested)
        if is_standing_instruction(sentence):
            if planted:
                self._drop(turn, sentence, relevance.PLANTED)
            else:
                self._add(turn, sentence, topic=ManagedTopic.EXPLICIT_INSTRUCTIONS)
            return
        for part in split_clauses(add_subject(sentence)):
            whole = replace_pronoun(part, self._antecedent)
            before = self._antecedent if whole != part else None
            self._antecedent = find_antecedent(whole) or before
            self._read_part(turn, whole, is_requested=requested is not None)

    def _read_part(self, turn: Turn, part: str, *, is_requested: bool) -> None:
        reason = "" if is_requested else relevance.rejection(part, self._people)
        meaning = parse_meaning(part)
        if not reason and (is_requested or relevance.is_concrete(part, meaning)):
            self._people.update(named_people(meaning))
            self._add(turn, part, meaning=meaning)
        else:
            self._drop(turn, part, reason or relevance.VAGUE)

    def _add(
        self,
        turn: Turn,
        text: str,
        *,
        topic: str | None = None,
        cited: Iterable[int] = (),
        meaning: Meaning | None = None,
        replaces: int | None = None,
        is_correction: bool = False,
    ) -> None:
        local = local_time(turn.at, self.time_zone)
        dated_text = text if topic else resolve_dates(text, local)
        final_meaning = meaning if meaning is not None and dated_text == text else parse_meaning(dated_text)
        events = tuple(sorted({*cited, turn.number}))
        scrapped = corrections.find_scrapped(self.memories, self._scrapping, dated_text) if self._scrapping else None
        self._scrapping = "" if scrapped is not None else self._scrapping
        kind, number = topic or classify_topic(final_meaning), scrapped if replaces is None else replaces
        validity = find_validity(dated_text, local)
        self._facts.add(
            PendingFact(
                dated_text, events, kind, final_meaning, not turn.context, number, validity, is_correction=is_correction
            )
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
