"""The parts of a bank's configuration document (MemoryBankConfig in camelCase) that a generation needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model.bank import BankConfig, Example, ProfileSchema
from streambank.model.content_policy import ContentPolicy, Detector, PolicyAction, PolicyRule
from streambank.model.review import ReviewPolicy
from streambank.model.rule import TriggerRule
from streambank.model.verdict import Verdict
from streambank.rules.schemas import json_schema


def parse_duration(duration: str | None) -> timedelta | None:
    """Return a protobuf duration ("300s", "1.5s") as a timedelta."""
    return timedelta(seconds=float(duration.removesuffix("s"))) if duration else None


def bank_config(document: Mapping[str, Any], scope: Collection[str] = ()) -> BankConfig:
    """Return the configuration in *document* for a scope with these keys."""
    custom = customization(document, scope)
    generation = document.get("generationConfig", {})
    ttl = document.get("ttlConfig", {})
    granular = ttl.get("granularTtlConfig", {})
    default = parse_duration(ttl.get("defaultTtl"))
    return BankConfig(
        document=dict(document),
        revision_ttl=parse_duration(ttl.get("memoryRevisionDefaultTtl")),
        disable_revisions=bool(document.get("disableMemoryRevisions")),
        third_person=bool(custom.get("enableThirdPersonMemories")),
        topics=tuple(_topic(topic) for topic in custom.get("memoryTopics", [])),
        descriptions=dict(_topic_descriptions(custom.get("memoryTopics", []))),
        examples=tuple(_example(one) for one in custom.get("generateMemoriesExamples", [])),
        revisions_per_candidate=custom.get("consolidationConfig", {}).get("revisionsPerCandidateCount") or 1,
        is_natural=not custom.get("disableNaturalLanguageMemories"),
        schemas=_schemas(document, scope),
        model=generation.get("model"),
        embedding_model=document.get("similaritySearchConfig", {}).get("embeddingModel"),
        daily_tokens=generation.get("dailyTokenBudget"),
        include_tool_traffic=bool(generation.get("includeToolTraffic")),
        create_ttl=parse_duration(granular.get("createTtl")) or default,
        update_ttl=default,
        generate_created_ttl=parse_duration(granular.get("generateCreatedTtl")) or default,
        generate_updated_ttl=parse_duration(granular.get("generateUpdatedTtl")) or default,
        review_policy=_review_policy(document.get("reviewPolicy", {})),
        content_policy=content_policy(document),
    )


def content_policy(document: Mapping[str, Any]) -> ContentPolicy | None:
    """Return the bank's content policy, or None if it has no rule; a rule without a name has its detector's."""
    rules = document.get("contentPolicy", {}).get("rules", [])
    return ContentPolicy(tuple(_policy_rule(one, number) for number, one in enumerate(rules))) if rules else None


def check_policy(document: Mapping[str, Any], path: str, *, has_service: bool) -> None:
    """Raise InvalidArgument if a rule needs a service for personal data, and the deployment has none."""
    for number, rule in enumerate(document.get("contentPolicy", {}).get("rules", [])):
        if rule.get("detector") == Detector.PERSONAL_DATA and not has_service:
            field = f"{path}.contentPolicy.rules[{number}].detector"
            raise InvalidArgument(field, "needs the parameter PersonalDataDetector, which this deployment has not set")


def _policy_rule(rule: Mapping[str, Any], number: int) -> PolicyRule:
    detector = rule.get("detector")
    name = rule.get("name") or detector or f"PATTERN_{number}"
    return PolicyRule(
        name, PolicyAction(rule["action"]), Detector(detector) if detector else None, rule.get("pattern", "")
    )


def _review_policy(policy: Mapping[str, Any]) -> ReviewPolicy:
    topics = map(_example_topic, policy.get("topics", []))
    return ReviewPolicy(frozenset(map(Verdict, policy.get("actions", []))), frozenset(topics))


def customization(document: Mapping[str, Any], scope: Collection[str]) -> Mapping[str, Any]:
    """Return the most specific customization whose keys are all in *scope*, or an empty one."""
    return _most_specific(document.get("customizationConfigs", []), scope)


def _most_specific(configs: Iterable[Mapping[str, Any]], scope: Collection[str]) -> Mapping[str, Any]:
    matching = [one for one in configs if set(one.get("scopeKeys", [])) <= set(scope)]
    return max(matching, key=lambda one: len(one.get("scopeKeys", [])), default={})


def _schemas(document: Mapping[str, Any], scope: Collection[str]) -> tuple[ProfileSchema, ...]:
    """Return the profile schemas for scopes with these keys."""
    config = _most_specific(document.get("structuredMemoryConfigs", []), scope)
    return tuple(ProfileSchema(one["id"], json_schema(one)) for one in config.get("schemaConfigs", []))


def _topic(topic: Mapping[str, Any]) -> str:
    managed = topic.get("managedMemoryTopic", {}).get("managedTopicEnum")
    return str(managed or topic.get("customMemoryTopic", {}).get("label", ""))


def _topic_descriptions(topics: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for topic in topics:
        custom = topic.get("customMemoryTopic", {})
        if custom.get("description"):
            yield _topic(topic), str(custom["description"])


def _example(example: Mapping[str, Any]) -> Example:
    contents = (event["content"] for event in example["conversationSource"]["events"])
    turns = tuple((content.get("role", "user"), _text(content.get("parts", []))) for content in contents)
    facts = (
        (one["fact"], next(map(_example_topic, one.get("topics", [])), None))
        for one in example.get("generatedMemories", [])
    )
    return Example(turns, tuple(facts))


def _text(parts: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(str(part["text"]) for part in parts if part.get("text"))


def _example_topic(topic: Mapping[str, Any]) -> str:
    return str(topic.get("managedMemoryTopic") or topic.get("customMemoryTopicLabel") or "")


def default_rule(document: Mapping[str, Any]) -> TriggerRule | None:
    """Return the bank's trigger rule for streams without a rule of their own, or None if there is none."""
    trigger = document.get("generationConfig", {}).get("generationTriggerConfig", {})
    rule = trigger.get("generationRule")
    if not rule:
        return None
    return TriggerRule(
        rule.get("eventCount"),
        parse_duration(rule.get("idleDuration")),
        parse_duration(rule.get("fixedInterval")),
        rule.get("overlapEventCount") or 0,
        rule.get("tokenCount"),
    )
