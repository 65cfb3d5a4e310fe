"""What a content policy is applied with, and what a rule with REFUSE does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from streambank.errors import InvalidArgument
from streambank.model.content_policy import ContentPolicy, Finding, PolicyAction
from streambank.rules.content_policy.spans import AskService, BilledService

if TYPE_CHECKING:
    from streambank.rules.content_policy.screen import Screen

# A refusal names so many places.
_MAX_NAMED = 10


@dataclass(frozen=True, slots=True)
class Screening:
    """Makes a screen for each request of a bank; *ask* is the service for personal data, if there is one."""

    ask: AskService | None = None

    def screen(self, policy: ContentPolicy) -> Screen:
        """Return the screen of a bank's policy."""
        # Imported here: RE2 takes 9 ms of a cold start, and only banks with a policy need it.
        from streambank.rules.content_policy.screen import Screen  # noqa: PLC0415

        return Screen(policy, self.ask)


def _count_nothing(_bank: str, _units: int) -> None:
    """Count nothing."""


@dataclass(frozen=True, slots=True)
class Screenings:
    """The screening of each bank; *count* books what a request to *service* cost, in units of text, for a bank."""

    service: BilledService | None = None
    count: Callable[[str, int], None] = _count_nothing

    def of(self, bank: str) -> Screening:
        """Return the screening of a bank."""
        service = self.service
        return Screening((lambda texts: service(texts, partial(self.count, bank))) if service else None)


def check_refusal(findings: Iterable[Finding], path: str) -> None:
    """Raise InvalidArgument if a rule refuses the text at *path*; the message quotes nothing of it."""
    check_refusals({path: refusing_rules(findings)})


def check_refusals(refusals: Mapping[str, Sequence[str]]) -> None:
    """Raise InvalidArgument naming each path for which there are rules that refuse it, and the rules."""
    refused = {path: rules for path, rules in refusals.items() if rules}
    if not refused:
        return
    first, *others = refused
    names = ", ".join(dict.fromkeys(name for rules in refused.values() for name in rules))
    problem = f"is refused by the bank's content policy ({names}); nothing was stored"
    if others:
        more = f" and {len(others) - _MAX_NAMED} more" if len(others) > _MAX_NAMED else ""
        problem += f"; so are {', '.join(others[:_MAX_NAMED])}{more}"
    raise InvalidArgument(first, problem)


def refusing_rules(findings: Iterable[Finding]) -> list[str]:
    """Return the names of the rules that refuse what they found."""
    return [one.rule for one in findings if one.action is PolicyAction.REFUSE]
