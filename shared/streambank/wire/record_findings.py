"""What a content policy found in an event, as the lines of an export hold it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model.content_policy import Finding, PolicyAction
from streambank.wire import reader
from streambank.wire.content_policy import MAX_RULES

_FINDING = frozenset({"rule", "action", "count"})
_MAX_RULE_BYTES = 64
_MAX_COUNT = 10**9


def findings_document(findings: Sequence[Finding]) -> list[dict[str, object]] | None:
    """Return what was found in an event as an export has it, or None for nothing."""
    return [{"rule": one.rule, "action": one.action, "count": one.count} for one in findings] or None


def findings(value: Any, path: str) -> tuple[Finding, ...]:
    """Return what `findings_document` got. Raises InvalidArgument."""
    if not isinstance(value, list) or len(value) > MAX_RULES:
        raise InvalidArgument(path, f"must be a list of at most {MAX_RULES} findings")
    return tuple(_finding(one, f"{path}[{index}]") for index, one in enumerate(value))


def _finding(value: Any, path: str) -> Finding:
    fields = reader.object_fields(value, path, _FINDING)
    if fields.keys() != _FINDING:
        raise InvalidArgument(path, "must have rule, action and count")
    action_path, action = fields["action"]
    if action not in list(PolicyAction):
        raise InvalidArgument(action_path, f"must be {', '.join(PolicyAction)}")
    rule = reader.text(*reader.swap(fields["rule"]), least_bytes=1, most_bytes=_MAX_RULE_BYTES)
    return Finding(rule, PolicyAction(action), reader.integer(*reader.swap(fields["count"]), least=1, most=_MAX_COUNT))
