"""The content policy of a bank: what texts must not hold, and what is done with it before anything is stored."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Detector(StrEnum):
    """The detectors that a rule may name; the last one is a service that the deployment names."""

    CREDENTIALS = "CREDENTIALS"
    CARD_NUMBERS = "CARD_NUMBERS"
    PERSONAL_DATA = "PERSONAL_DATA"


class PolicyAction(StrEnum):
    """What is done where a rule matches: the match is replaced, the request is refused, or the event is tagged."""

    REDACT = "REDACT"
    REFUSE = "REFUSE"
    TAG = "TAG"


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """A rule under its *name*: it has a detector, or else a *pattern* of RE2."""

    name: str
    action: PolicyAction
    detector: Detector | None = None
    pattern: str = ""

    @property
    def marker(self) -> str:
        """Return what stands in a text for what the rule has removed."""
        return f"[REDACTED:{self.name}]"


@dataclass(frozen=True, slots=True)
class ContentPolicy:
    """The rules of a bank; where several match the same text, the first one's marker is left."""

    rules: tuple[PolicyRule, ...]

    @property
    def needs_service(self) -> bool:
        """Tell whether a rule asks the deployment's service for personal data."""
        return any(rule.detector is Detector.PERSONAL_DATA for rule in self.rules)


@dataclass(frozen=True, slots=True)
class Finding:
    """How often a rule matched in one event, never what it matched."""

    rule: str
    action: PolicyAction
    count: int
