"""Turns decisions about candidates into steps of a plan, and the steps into changes of memories."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from streambank.model.bank import BankConfig
from streambank.model.extraction import FactChange
from streambank.model.memory import RECOVERABLE, Change, Evidence, Memory, Revision
from streambank.model.plan import FORGET, Candidate, PlanStep
from streambank.model.rule import WindowSettings
from streambank.model.tombstone import TOMBSTONE_TTL, Tombstone
from streambank.model.validity import OPEN, Statement, Validity
from streambank.model.verdict import NEW, RESTATED, SUPERSEDED, Verdict
from streambank.model.window import Window
from streambank.rules import history, profiles
from streambank.rules.evidence import joined_evidence, newest_evidence
from streambank.rules.keyed_hashes import KeyedHashes, former_texts

NOTHING_TO_FORGET = "nothing to forget"
# What the last revision of a memory says that became part of another one, before the id of that one.
MERGED_INTO = "merged into memories/"
DEFAULT_REVISION_TTL = timedelta(days=365)


def is_forget_request(candidate: Candidate) -> bool:
    """Tell whether *candidate* is a request to forget something."""
    return candidate.change is FactChange.FORGETS or candidate.fact.startswith(FORGET)


def create_step(candidate: Candidate, text: str | None = None, reason: str = NEW) -> PlanStep:
    """Return the step that creates a memory from *candidate*; a request to forget is rejected."""
    if candidate.rejected:
        return PlanStep(Verdict.REJECTED, reason=candidate.rejected)
    if is_forget_request(candidate):
        return PlanStep(Verdict.REJECTED, reason=NOTHING_TO_FORGET)
    return PlanStep(Verdict.CREATED, text=text or candidate.fact, reason=reason, validity=candidate.validity)


def update_step(candidate: Candidate, memory: Memory, text: str, reason: str, settings: WindowSettings) -> PlanStep:
    """Return the step that changes *memory* to *text*; where the memory has newer evidence, its past gets the text."""
    if text == memory.fact:
        return restate_step(candidate, memory, settings)
    verdict, reason = (Verdict.REJECTED, SUPERSEDED) if candidate.at < memory.as_of else (Verdict.UPDATED, reason)
    return PlanStep(
        verdict,
        memory.id,
        text,
        reason=reason,
        validity=candidate.validity,
        is_correction=candidate.is_correction,
    )


def restate_step(candidate: Candidate, memory: Memory, settings: WindowSettings, reason: str = RESTATED) -> PlanStep:
    """Return the step for a fact that *memory* states already: it keeps its text, whatever that is by then.

    The fact is further evidence. Where it is newer, it renews the metadata as well, and says until when the text holds.
    """
    is_other = settings.merged(memory.metadata) != memory.metadata
    is_other = is_other or candidate.validity not in (OPEN, memory.validity)
    renews = candidate.at > memory.as_of or (candidate.at == memory.as_of and is_other)
    verdict = Verdict.UPDATED if renews else Verdict.UNCHANGED
    return PlanStep(verdict, memory.id, reason=reason, validity=candidate.validity)


def delete_step(candidate: Candidate, memory: Memory, reason: str) -> PlanStep:
    """Return the step that deletes *memory*, unless the memory has newer evidence."""
    if candidate.at < memory.as_of:
        return PlanStep(Verdict.REJECTED, memory.id, reason=SUPERSEDED)
    return PlanStep(Verdict.DELETED, memory.id, reason=reason)


def revise_step(candidate: Candidate, step: PlanStep, existing: Container[str]) -> PlanStep:
    """Return *step*, or the step to take instead if its memory is not among *existing* ids any more.

    The memory may have expired, or an earlier step may have deleted it.
    """
    if step.memory_id is None or step.memory_id in existing or step.verdict is Verdict.REJECTED:
        return step
    if step.verdict is Verdict.DELETED:
        return PlanStep(Verdict.REJECTED, reason=NOTHING_TO_FORGET)
    text, vector = (step.text, step.vector) if step.text else (candidate.fact, candidate.vector)
    return replace(step, verdict=Verdict.CREATED, memory_id=None, text=text, vector=vector)


@dataclass(frozen=True, slots=True)
class WindowPolicy:
    """The settings for the memories of one window: its own, and those of its bank.

    *hashes* are those of its scope, *event_hashes* those of the events that it may cite, by their numbers.
    """

    window: Window
    config: BankConfig
    hashes: KeyedHashes
    event_hashes: Mapping[int, str] = field(default_factory=dict)

    @property
    def keeps_revisions(self) -> bool:
        return keeps_revisions(self.window.settings, self.config)

    def revision_expiry(self, now: datetime) -> datetime:
        return revision_expiry(self.window.settings, self.config, now=now)


def keeps_revisions(settings: WindowSettings, config: BankConfig) -> bool:
    """Tell whether changes make revisions: the request decides, else the bank."""
    disabled = settings.disable_revisions
    return not (config.disable_revisions if disabled is None else disabled)


def revision_expiry(settings: WindowSettings, config: BankConfig, *, now: datetime) -> datetime:
    """Return when a revision of *now* expires: as the request says, else as the bank says, else after 365 days."""
    expiry = settings.revision_expiry or config.revision_ttl or DEFAULT_REVISION_TTL
    return now + expiry if isinstance(expiry, timedelta) else expiry


def change(
    policy: WindowPolicy, new_id: str, candidate: Candidate, step: PlanStep, memory: Memory | None, *, now: datetime
) -> Change | None:
    """Return the change that *candidate* makes to *memory*, or None if it makes none; a new memory gets *new_id*."""
    candidate = replace(candidate, seqs=tuple(sorted({*candidate.seqs, *step.seqs})))
    if step.verdict is Verdict.CREATED:
        return _creation(policy, new_id, candidate, step, now)
    if memory is None:
        return None
    if step.verdict is Verdict.REJECTED:
        return _late_text(policy, candidate, step, memory, now) if step.is_late else None
    if step.verdict is Verdict.DELETED:
        return deletion(memory, policy.hashes, at=candidate.at, now=now, merged_into=step.merged_into)
    if step.verdict is Verdict.UNCHANGED:
        return _further_evidence(policy, candidate, memory, now)
    return _update(policy, candidate, step, memory, now)


def _creation(policy: WindowPolicy, new_id: str, candidate: Candidate, step: PlanStep, now: datetime) -> Change:
    window = policy.window
    memory = Memory(
        id=new_id,
        fact=step.text or candidate.fact,
        scope=window.stream.scope,
        created=now,
        updated=now,
        as_of=candidate.at,
        revision=int(policy.keeps_revisions),
        topics=candidate.topics,
        metadata=window.settings.metadata or {},
        vector=step.vector,
        expires=_after(now, policy.config.generate_created_ttl, None),
        evidence=_evidence(policy, candidate),
        profile=profiles.new_profile(candidate),
        validity=step.validity,
    )
    return new_memory(memory, _revision(policy, memory, candidate, now))


def new_memory(memory: Memory, revision: Revision | None) -> Change:
    """Return the change that creates *memory*, which is its own *revision*."""
    return Change(None, history.with_first_text(memory, revision), revision)


def _update(policy: WindowPolicy, candidate: Candidate, step: PlanStep, memory: Memory, now: datetime) -> Change:
    fact = step.text or memory.fact
    metadata = policy.window.settings.merged(memory.metadata)
    validity = _validity(step, memory)
    is_new_text = (fact, validity) != (memory.fact, memory.validity)
    after = replace(
        memory,
        fact=fact,
        validity=validity,
        vector=step.vector or memory.vector,
        metadata=metadata,
        topics=candidate.topics or memory.topics,
        as_of=max(candidate.at, memory.as_of),
        updated=now if is_new_text or metadata != memory.metadata else memory.updated,
        revision=memory.revision + (is_new_text and policy.keeps_revisions),
        expires=memory.expires if memory.pinned else _after(now, policy.config.generate_updated_ttl, memory.expires),
        evidence=joined_evidence(memory.evidence, _evidence(policy, candidate)),
        profile=profiles.updated_profile(memory, candidate),
        former=former_texts(memory, fact, policy.hashes),
        hidden=memory.revision if is_new_text and is_forget_request(candidate) else memory.hidden,
    )
    if not is_new_text:
        return Change(memory, history.with_statement(memory, after, candidate.at, now=now), None)
    revision = _revision(policy, after, candidate, now)
    revision = revision and replace(revision, is_correction=step.is_correction)
    at = candidate.at if memory.profile else after.as_of
    return Change(memory, history.with_next_text(memory, after, revision, at, now=now), revision)


def _validity(step: PlanStep, memory: Memory) -> Validity:
    """Return when the text of *memory* holds after *step*: a text that is stated again, or corrected, may not say."""
    keeps = not step.text or step.text == memory.fact or step.is_correction
    return memory.validity if keeps and step.validity.is_open else step.validity


def _further_evidence(policy: WindowPolicy, candidate: Candidate, memory: Memory, now: datetime) -> Change | None:
    """Return the change that adds the evidence of *candidate* to *memory*, which stays as it is otherwise.

    Newer evidence of a pinned memory comes this way too, since nothing else of it may change.
    """
    evidence = joined_evidence(memory.evidence, _evidence(policy, candidate))
    as_of = max(candidate.at, memory.as_of) if memory.pinned else memory.as_of
    after = replace(memory, evidence=evidence, as_of=as_of)
    if after == memory:
        return None
    return Change(memory, history.with_statement(memory, after, candidate.at, now=now), None)


def _late_text(
    policy: WindowPolicy, candidate: Candidate, step: PlanStep, memory: Memory, now: datetime
) -> Change | None:
    """Return the change that adds a text to the past of *memory*, whose own text has newer evidence."""
    fact = step.text or candidate.fact
    after = replace(
        memory,
        evidence=joined_evidence(memory.evidence, _evidence(policy, candidate)),
        revision=memory.revision + policy.keeps_revisions,
        former=former_texts(replace(memory, fact=fact), memory.fact, policy.hashes),
    )
    if not policy.keeps_revisions:
        return Change(memory, replace(after, whole_since=memory.as_of), None)
    made = _revision(policy, replace(after, fact=fact), candidate, now)
    revision = made and replace(
        made,
        validity=step.validity,
        statements=(Statement(candidate.at, now),),
        is_correction=step.is_correction,
        is_late=True,
        vector=step.vector,
    )
    return Change(memory, after, revision)


def _after(now: datetime, ttl: timedelta | None, otherwise: datetime | None) -> datetime | None:
    """Return *now* plus the bank's *ttl*, or *otherwise* if there is no TTL."""
    return now + ttl if ttl else otherwise


def _evidence(policy: WindowPolicy, candidate: Candidate) -> tuple[Evidence, ...]:
    return newest_evidence([evidence_of(policy, candidate.seqs)] if candidate.seqs else [])


def evidence_of(policy: WindowPolicy, seqs: tuple[int, ...]) -> Evidence:
    """Return the events of the policy's window with the numbers *seqs* as evidence."""
    window, hashes = policy.window, tuple(policy.event_hashes.get(seq, "") for seq in seqs)
    return Evidence(window.stream.sid, window.number, seqs, hashes if any(hashes) else ())


def _revision(policy: WindowPolicy, memory: Memory, candidate: Candidate, now: datetime) -> Revision | None:
    if not policy.keeps_revisions:
        return None
    labels = policy.window.settings.revision_labels or {}
    expires = policy.revision_expiry(now)
    extracted = (candidate.fact,)
    return Revision(memory.id, memory.revision, memory.fact, now, expires, labels, extracted, bool(memory.profile))


def deletion(
    memory: Memory, hashes: KeyedHashes, *, now: datetime, at: datetime | None = None, merged_into: str = ""
) -> Change:
    """Return the change that deletes *memory*: text and vector are removed, and a last revision is empty.

    What is said until *at*, which is *now* where nothing else is given, does not bring the memory back. The evidence
    stays for 48 hours, so that a memory that is rolled back and deleted again has a tombstone as complete. The
    revision says so where the memory became part of the one with the id *merged_into*.
    """
    after = replace(
        memory,
        fact="",
        vector=b"",
        topics=(),
        metadata={},
        display_name=None,
        description=None,
        deleted=now,
        updated=now,
        revision=memory.revision + 1,
        former=former_texts(memory, "", hashes),
        own_revision=None,
    )
    events = () if merged_into else (one for evidence in memory.evidence for one in evidence.hashes if one)
    expires = now + TOMBSTONE_TTL
    texts, origins = frozenset(after.former), memory.origins
    tombstone = Tombstone(memory.id, at or now, frozenset(events), texts, expires, bool(merged_into), origins)
    merge = (f"{MERGED_INTO}{merged_into}",) if merged_into else ()
    revision = Revision(memory.id, after.revision, "", now, now + RECOVERABLE, extracted=merge)
    return Change(memory, after, revision, tombstone=tombstone)
