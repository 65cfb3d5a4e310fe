"""What generation needs to know of a bank's configuration document (MemoryBankConfig in camelCase)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

from streambank.model.bank import BankConfig
from streambank.model.rule import TriggerRule


def seconds(duration: str | None) -> timedelta | None:
    """Return a protobuf duration ("300s", "1.5s") as a span."""
    return timedelta(seconds=float(duration.removesuffix("s"))) if duration else None


def bank_config(document: Mapping[str, Any], scope: Collection[str] = ()) -> BankConfig:
    """Return the parts of *document* that govern a scope with these keys."""
    custom = customization(document, scope)
    ttl = document.get("ttlConfig", {})
    granular = ttl.get("granularTtlConfig", {})
    default = seconds(ttl.get("defaultTtl"))
    return BankConfig(
        document=dict(document),
        revision_ttl=seconds(ttl.get("memoryRevisionDefaultTtl")),
        disable_revisions=bool(document.get("disableMemoryRevisions")),
        third_person=bool(custom.get("enableThirdPersonMemories")),
        topics=tuple(_topic(topic) for topic in custom.get("memoryTopics", [])),
        create_ttl=seconds(granular.get("createTtl")) or default,
        update_ttl=default,
        generate_created_ttl=seconds(granular.get("generateCreatedTtl")) or default,
        generate_updated_ttl=seconds(granular.get("generateUpdatedTtl")) or default,
    )


def customization(document: Mapping[str, Any], scope: Collection[str]) -> Mapping[str, Any]:
    """Return the customization whose keys are all among *scope*'s, the most specific first; empty where none is."""
    fitting = [one for one in document.get("customizationConfigs", []) if set(one.get("scopeKeys", [])) <= set(scope)]
    return max(fitting, key=lambda one: len(one.get("scopeKeys", [])), default={})


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
