"""Content policies, and the consent of scopes."""

from __future__ import annotations

from streambank_client.types.base import Instant, RequestShape, Shape


class ContentPolicyRule(RequestShape):
    """A rule with a *detector* (CREDENTIALS, CARD_NUMBERS, PERSONAL_DATA) or a *pattern* of RE2.

    *action* is REDACT, REFUSE or TAG. *name* is what is left in the text, by default the detector's.
    """

    name: str | None = None
    detector: str | None = None
    pattern: str | None = None
    action: str


class ContentPolicy(RequestShape):
    """What texts must not hold; the rules apply before anything is stored."""

    rules: list[ContentPolicyRule] = []


class PolicyFinding(Shape):
    """How often a rule matched in an event, never what it matched."""

    rule: str
    action: str
    count: int


class AppliedPolicy(Shape):
    """How many stored items had text removed, and how many did not."""

    changed: int = 0
    kept: int = 0
    end_time: Instant | None = None


class Consent(Shape):
    """Whether memories are made of what is said in a scope: *learning* is ENABLED or DISABLED."""

    scope: dict[str, str]
    learning: str
    update_time: Instant | None = None
