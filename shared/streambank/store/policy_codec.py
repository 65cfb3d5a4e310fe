"""Content policies, and what they found, as attributes of items."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from streambank.model.content_policy import ContentPolicy, Detector, Finding, PolicyAction, PolicyRule
from streambank.store import text


def policy_text(policy: ContentPolicy | None) -> str | None:
    rules = [[rule.name, rule.action, rule.detector, rule.pattern] for rule in policy.rules] if policy else []
    return text.dumps(rules) if rules else None


def policy_value(stored: str | None) -> ContentPolicy | None:
    if stored is None:
        return None
    rows = json.loads(stored)
    return ContentPolicy(
        tuple(
            PolicyRule(name, PolicyAction(action), Detector(detector) if detector else None, pattern)
            for name, action, detector, pattern in rows
        )
    )


def findings_rows(findings: Sequence[Finding]) -> list[list[Any]]:
    return [[one.rule, one.action, one.count] for one in findings]


def findings_text(findings: Sequence[Finding]) -> str | None:
    return text.dumps(findings_rows(findings)) if findings else None


def findings_of(rows: Sequence[Sequence[Any]]) -> tuple[Finding, ...]:
    return tuple(Finding(rule, PolicyAction(action), count) for rule, action, count in rows)
