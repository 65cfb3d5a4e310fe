"""Candidates, and the plans that say what to do with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from streambank.model.coverage import Coverage
from streambank.model.extraction import FactChange
from streambank.model.memory import Change
from streambank.model.review import Review
from streambank.model.usage import Usage
from streambank.model.validity import OPEN, Validity
from streambank.model.verdict import RecordedVerdict, Verdict
from streambank.model.window import Attempt

# A request to forget is a candidate that starts with this; it never becomes a memory of its own.
FORGET = "Forget: "


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact that a model or a caller proposes; *at* is the newest time of its evidence.

    *rejected* is the reason where the candidate was refused before any consolidation, else empty. *profile* is the
    id of a schema where the fact is JSON of values for a profile, else empty. *change* is what the model says that the
    fact means for the memories with *memory_ids*, and *text* what they say from then on; None where it did not say.
    *doubts* are the reasons why the words of the fact, or of its text, need a second answer. *is_correction* says that
    the memories were never true.
    """

    fact: str
    seqs: tuple[int, ...]
    at: datetime
    topics: tuple[str, ...] = ()
    vector: bytes = b""
    rejected: str = ""
    profile: str = ""
    change: FactChange | None = None
    memory_ids: tuple[str, ...] = ()
    text: str = ""
    doubts: tuple[str, ...] = ()
    validity: Validity = OPEN
    is_correction: bool = False

    @property
    def is_searched(self) -> bool:
        """Tell whether it may become a memory in natural language: one that has a vector, and that a model judges."""
        return not self.rejected and not self.profile


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """A request to forget, as candidate number *number* of a window stated it at *at*; it guards until *expires*."""

    sid: str
    window: int
    number: int
    text: str
    at: datetime
    expires: datetime


@dataclass(frozen=True, slots=True)
class PlanStep:
    """What to do with one candidate: the verdict, the memory it touches, the new text and the reason.

    *others* are further steps of the same candidate, each for another memory. *seqs* are events of other candidates
    that say the same. *merged_into* is the id of the memory that a deleted one became part of, else empty. A rejected
    step with a text is late: the memory has newer evidence, and its past gets the text.
    """

    verdict: Verdict
    memory_id: str | None = None
    text: str | None = None
    vector: bytes = b""
    reason: str = ""
    others: tuple[PlanStep, ...] = ()
    seqs: tuple[int, ...] = ()
    merged_into: str = ""
    validity: Validity = OPEN
    is_correction: bool = False

    @property
    def is_late(self) -> bool:
        """Tell whether its text belongs to the past of the memory."""
        return self.verdict is Verdict.REJECTED and self.memory_id is not None and self.text is not None

    @property
    def all(self) -> tuple[PlanStep, ...]:
        """Return the step and the further ones of its candidate."""
        return self, *self.others


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps for the candidates from number *start* on, made at version *version* of the scope.

    *offered* maps the id of each memory that the model was given to its mark then: if none of them changed and no
    new one is near, the plan is still valid at another version. *needs_index* says that the scope has become large.
    """

    version: int
    start: int
    steps: tuple[PlanStep, ...]
    offered: dict[str, str]
    usage: Usage = field(default=Usage())
    needs_index: bool = False

    def version_at(self, cursor: int) -> int:
        """Return the version that the scope has at *cursor* if nobody else wrote.

        A slice raises it by the number of its steps: the version does not depend on where slices end.
        """
        return self.version + cursor - self.start

    @property
    def memory_ids(self) -> list[str]:
        """The ids of the memories that the steps are about."""
        parts = [part for step in self.steps for part in step.all]
        return [name for part in parts for name in (part.memory_id, part.merged_into) if name]


@dataclass(frozen=True, slots=True)
class Extracted:
    """A window's candidates, and what their extraction cost.

    *offered* maps the id of each memory that the model was given to its fingerprint then.
    """

    candidates: tuple[Candidate, ...]
    usage: Usage = field(default=Usage())
    coverage: Coverage = field(default=Coverage())
    offered: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a plan that is complete in itself: candidates *start* to *end*, each memory changed at most once.

    *expires* is until when its verdicts are kept; None while the expiry of the window's events is suspended.
    *requests* are all requests to forget of the scope after the slice; None where it adds none. *reviews* are changes
    that wait.
    """

    attempt: Attempt
    start: int
    end: int
    version: int
    verdicts: tuple[RecordedVerdict, ...]
    changes: tuple[Change, ...] = ()
    expires: datetime | None = None
    requests: tuple[ForgetRequest, ...] | None = None
    reviews: tuple[Review, ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """What the last slice records of its window.

    *due* is when the sweep does what its end leaves to do (`finish`), None where nothing is left.
    """

    outcome: Mapping[str, Any]
    ended: datetime
    expires: datetime
    due: datetime | None
