"""Screening the texts of memories: those that callers state, and those that a model proposes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from streambank.model import ids
from streambank.model.content_policy import ContentPolicy
from streambank.model.decision import Decision
from streambank.model.extraction import ExtractedFact, ExtractedProfile, Extraction
from streambank.model.memory import Memory, Revision
from streambank.model.plan import Candidate, PlanStep
from streambank.model.review import Review
from streambank.pipeline.screening.calls import screened_fact, screened_map, screened_settings
from streambank.pipeline.screening.screening import Screening, check_refusal, refusing_rules
from streambank.rules import profiles
from streambank.rules.edits import Edit

if TYPE_CHECKING:
    from streambank.rules.content_policy.screen import Screen

_MAX_NAME_BYTES = 1_024
# Why a proposed fact is rejected.
REFUSED = "REFUSED_BY_CONTENT_POLICY"


def screened_edit(edit: Edit, policy: ContentPolicy, *, screening: Screening) -> Edit:
    """Return *edit* as it may be stored.

    Raises:
        InvalidArgument: a rule refuses some of it.
        Unavailable: the service for personal data did not answer.
    """
    screen = screening.screen(policy)
    screen.read_ahead(text for text in (edit.fact, edit.display_name, edit.description) if text)
    screened = replace(edit, fact=screened_fact(edit.fact, screen))
    check_refusal(screen.take_findings(), "fact")
    screened = replace(screened, display_name=screened_name(edit.display_name, screen))
    check_refusal(screen.take_findings(), "displayName")
    screened = replace(screened, description=screened_name(edit.description, screen))
    check_refusal(screen.take_findings(), "description")
    metadata = screened_map(edit.metadata, screen)
    check_refusal(screen.take_findings(), "metadata")
    return replace(screened, metadata=metadata, settings=screened_settings(edit.settings, screen))


def screened_name(name: str | None, screen: Screen) -> str | None:
    """Return a display name or a description as it may be stored."""
    return screen.text(name, room=max(0, _MAX_NAME_BYTES - len(name.encode()))) if name else name


def fingerprint_of_edit(edit: Edit, scope: dict[str, str]) -> bytes:
    """Return the fingerprint of a call that creates a memory, where the text of its body was changed."""
    return ids.fingerprint([scope, edit.fact, edit.display_name, edit.description, edit.topics, edit.metadata])


def screened_memory(memory: Memory, screen: Screen) -> Memory:
    """Return a stored or imported memory without what the rules remove, also where they refuse."""
    fact = screened_memory_text(memory.fact, screen, is_profile=memory.profile is not None)
    own = screened_revision(memory.own_revision, screen) if memory.own_revision else None
    screened = replace(
        memory,
        fact=fact,
        display_name=screened_name(memory.display_name, screen),
        description=screened_name(memory.description, screen),
        metadata=screened_map(memory.metadata, screen),
        own_revision=own,
    )
    if screened != memory and memory.call:
        # A hash of the body would tell something of what was removed.
        screened = replace(screened, call=replace(memory.call, fingerprint=b""))
    return screened


def screened_revision(revision: Revision, screen: Screen) -> Revision:
    """Return a revision without what the rules remove."""
    fact = screened_memory_text(revision.fact, screen, is_profile=revision.is_profile)
    extracted = tuple(screened_memory_text(one, screen, is_profile=revision.is_profile) for one in revision.extracted)
    return replace(revision, fact=fact, extracted=extracted, labels=screened_map(revision.labels, screen))


def screened_review(review: Review, screen: Screen) -> Review:
    """Return a change that waits for review without what the rules remove; a mark that is left of one has no texts."""
    text, fact = (
        screened_memory_text(one, screen, is_profile=bool(review.profile)) for one in (review.text, review.fact)
    )
    return replace(review, text=text, fact=fact, reason=screen.text(review.reason, room=_MAX_NAME_BYTES))


def screened_memory_text(fact: str, screen: Screen, *, is_profile: bool) -> str:
    """Return the text of a memory as it may be stored; that of a profile is JSON, and stays so."""
    if not is_profile or not fact:
        return screened_fact(fact, screen)
    values = profiles.parse_data(fact)
    screened = screen.value(values)
    return fact if screened == values else profiles.to_fact(screened)


# ---- what a model proposes


def screened_extraction(extraction: Extraction, policy: ContentPolicy, *, screening: Screening) -> Extraction:
    """Return what a model proposes as it may be stored; a fact that a rule refuses is rejected without its text.

    Raises:
        Unavailable: the service for personal data did not answer.
    """
    screen = screening.screen(policy)
    screen.read_ahead(text for one in extraction.facts for text in (one.fact, one.text) if text)
    facts = tuple(_screened_fact(one, screen) for one in extraction.facts)
    profiles = tuple(_screened_profile(one, screen) for one in extraction.profiles)
    return replace(extraction, facts=facts, profiles=profiles)


def _screened_fact(proposed: ExtractedFact, screen: Screen) -> ExtractedFact:
    fact, text = screened_fact(proposed.fact, screen), screened_fact(proposed.text, screen)
    problem = REFUSED if refusing_rules(screen.take_findings()) else proposed.problem
    return replace(proposed, fact=fact, text=text, problem=problem)


def _screened_profile(proposed: ExtractedProfile, screen: Screen) -> ExtractedProfile:
    data = screen.value(dict(proposed.data))
    screen.take_findings()
    return replace(proposed, data=data)


def screened_decisions(
    decisions: Sequence[Decision], policy: ContentPolicy, *, screening: Screening
) -> tuple[Decision, ...]:
    """Return what a model decides as it may be stored. Raises as `screened_extraction` does."""
    screen = screening.screen(policy)
    screen.read_ahead(text for one in decisions for text in (one.text, one.reason) if text)
    return tuple(
        replace(
            one,
            text=screened_fact(one.text, screen) if one.text else one.text,
            reason=screen.text(one.reason, room=_MAX_NAME_BYTES),
        )
        for one in decisions
    )


# ---- what is left of a generation


def screened_answer(answer: Extraction, screen: Screen) -> Extraction:
    """Return a model's answer without what the rules remove; nothing of it is rejected for that."""
    facts = tuple(
        replace(one, fact=screened_fact(one.fact, screen), text=screened_fact(one.text, screen)) for one in answer.facts
    )
    return replace(answer, facts=facts, profiles=tuple(_screened_profile(one, screen) for one in answer.profiles))


def screened_candidate(candidate: Candidate, screen: Screen) -> Candidate:
    """Return a candidate without what the rules remove; its vector is of its old fact."""
    fact = screened_memory_text(candidate.fact, screen, is_profile=bool(candidate.profile))
    return replace(candidate, fact=fact, text=screened_fact(candidate.text, screen))


def screened_step(step: PlanStep, screen: Screen) -> PlanStep:
    """Return a step of a plan without what the rules remove; its vector is of its old text."""
    others = tuple(screened_step(one, screen) for one in step.others)
    text = screened_fact(step.text, screen) if step.text else step.text
    return replace(step, text=text, reason=screen.text(step.reason, room=_MAX_NAME_BYTES), others=others)
