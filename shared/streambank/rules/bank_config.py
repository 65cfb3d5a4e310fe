"""What generation needs to know of a bank's configuration document (MemoryBankConfig in camelCase)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from streambank.model.bank import BankConfig
from streambank.model.rule import TriggerRule


def seconds(duration: str | None) -> timedelta | None:
    """Return a protobuf duration ("300s", "1.5s") as a span."""
    return timedelta(seconds=float(duration.removesuffix("s"))) if duration else None


def bank_config(document: Mapping[str, Any]) -> BankConfig:
    """Return the parts of *document* that govern every window of the bank."""
    defaults: Mapping[str, Any] = next(
        (part for part in document.get("customizationConfigs", []) if not part.get("scopeKeys")), {}
    )
    return BankConfig(
        document=dict(document),
        revision_ttl=seconds(document.get("ttlConfig", {}).get("memoryRevisionDefaultTtl")),
        disable_revisions=bool(document.get("disableMemoryRevisions")),
        third_person=bool(defaults.get("enableThirdPersonMemories")),
        topics=tuple(_topic(topic) for topic in defaults.get("memoryTopics", [])),
    )


def _topic(topic: Mapping[str, Any]) -> str:
    managed = topic.get("managedMemoryTopic", {}).get("managedTopicEnum")
    return str(managed or topic.get("customMemoryTopic", {}).get("label", ""))


def default_rule(document: Mapping[str, Any]) -> TriggerRule | None:
    """Return the trigger rule for streams that have none, or None if the bank names none."""
    trigger = document.get("generationConfig", {}).get("generationTriggerConfig", {})
    rule = trigger.get("generationRule")
    if not rule:
        return None
    return TriggerRule(
        rule.get("eventCount"),
        seconds(rule.get("idleDuration")),
        seconds(rule.get("fixedInterval")),
        rule.get("overlapEventCount") or 0,
    )
