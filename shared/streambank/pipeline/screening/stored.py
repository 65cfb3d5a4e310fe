"""What a content policy does to each kind of stored text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from streambank.model.event import Event
from streambank.model.extraction import Extraction
from streambank.model.memory import Citation, Memory, Revision
from streambank.model.plan import Candidate, ForgetRequest, PlanStep
from streambank.model.review import Review
from streambank.model.rule import WindowSettings
from streambank.model.session import Session, SessionEvent
from streambank.model.verdict import RecordedVerdict
from streambank.model.window import Window
from streambank.pipeline.screening import calls, conversations, memories, records

if TYPE_CHECKING:
    from streambank.rules.content_policy.screen import Screen

# Returns the vector of a text.
Embed = Callable[[str], bytes]


class StoredTexts:
    """Screens stored texts, also where a rule refuses; a text that changes gets a vector of its own."""

    def __init__(self, screen: Screen, embed: Embed) -> None:
        self._screen = screen
        self._embed = embed

    def read_ahead(self, texts: Iterable[str]) -> None:
        """Let the service for personal data read *texts* together, where there is one."""
        self._screen.read_ahead(texts)

    def event(self, event: Event) -> Event:
        """Return an event, with what was found in it."""
        self._screen.take_findings()
        calls.read_ahead([event], self._screen)
        size = len(json.dumps(event.parts, ensure_ascii=False).encode())
        return calls.screened_event(event, self._screen, size=size)

    def session_event(self, event: SessionEvent) -> SessionEvent:
        """Return an event of a session, with what was found in it."""
        self._screen.take_findings()
        return conversations.screened_session_event(event, self._screen)

    def memory(self, memory: Memory) -> Memory:
        """Return a memory; a profile has no vector."""
        screened = memories.screened_memory(memory, self._screen)
        is_new = screened.fact != memory.fact and not memory.profile and bool(memory.vector)
        return replace(screened, vector=self._embed(screened.fact)) if is_new else screened

    def candidate(self, candidate: Candidate) -> Candidate:
        """Return a candidate."""
        screened = memories.screened_candidate(candidate, self._screen)
        is_new = screened.fact != candidate.fact and bool(candidate.vector)
        return replace(screened, vector=self._embed(screened.fact)) if is_new else screened

    def step(self, step: PlanStep) -> PlanStep:
        """Return a step of a plan."""
        screened = memories.screened_step(step, self._screen)
        is_new = screened.text != step.text and bool(step.vector)
        return replace(screened, vector=self._embed(screened.text or "")) if is_new else screened

    def answer(self, answer: Extraction) -> Extraction:
        """Return a model's answer."""
        return memories.screened_answer(answer, self._screen)

    def verdict(self, verdict: RecordedVerdict) -> RecordedVerdict:
        """Return a verdict."""
        return replace(verdict, fact=calls.screened_fact(verdict.fact, self._screen))

    def request(self, request: ForgetRequest) -> ForgetRequest:
        """Return a request to forget."""
        return replace(request, text=calls.screened_fact(request.text, self._screen))

    def window(self, window: Window) -> Window:
        """Return a window: its stated facts, and its settings."""
        return records.screened_window(window, self._screen)

    def settings(self, settings: WindowSettings) -> WindowSettings:
        """Return the settings of an open window."""
        return calls.screened_settings(settings, self._screen, may_refuse=False)

    def revision(self, revision: Revision) -> Revision:
        """Return a revision."""
        return memories.screened_revision(revision, self._screen)

    def citation(self, citation: Citation) -> Citation:
        """Return a citation."""
        return records.screened_citation(citation, self._screen)

    def review(self, review: Review) -> Review:
        """Return a change that waits for review."""
        return memories.screened_review(review, self._screen)

    def session(self, session: Session) -> Session:
        """Return a session."""
        return conversations.screened_session(session, self._screen)

    def messages(self, messages: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
        """Return the messages of a conversation."""
        return conversations.screened_messages(messages, self._screen)
