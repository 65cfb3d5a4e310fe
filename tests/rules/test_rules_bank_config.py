from datetime import timedelta

import pytest

from streambank.model.bank import BankConfig
from streambank.model.rule import TriggerRule
from streambank.model.verdict import Verdict
from streambank.rules.bank_config import bank_config, default_rule, parse_duration
from streambank.wire.bank_config import MemoryBankConfig


def test_tool_traffic_is_off_until_a_bank_includes_it():
    """The wire names the switch beside the bank's other settings of generation."""
    given = {"generationConfig": {"includeToolTraffic": True}}
    document = MemoryBankConfig.parse(given).model_dump(mode="json", by_alias=True, exclude_none=True)
    assert document == given
    assert bank_config(document).include_tool_traffic
    assert not bank_config({}).include_tool_traffic


def test_a_review_policy_names_verdicts_and_topics():
    """Managed topics and labels of custom ones count alike; without a policy nothing is reviewed."""
    topics = [{"managedMemoryTopic": "USER_PREFERENCES"}, {"customMemoryTopicLabel": "jargon"}]
    given = {"reviewPolicy": {"actions": ["DELETED", "CREATED"], "topics": topics}}
    document = MemoryBankConfig.parse(given).model_dump(mode="json", by_alias=True, exclude_none=True)
    assert document == given
    policy = bank_config(document).review_policy
    assert policy.covers({Verdict.DELETED}, ["jargon"])
    assert not policy.covers({Verdict.UPDATED}, ["jargon"])
    assert not policy.covers({Verdict.CREATED}, ["OTHER"])
    assert not bank_config({}).review_policy.covers(list(Verdict), ["jargon"])


def test_an_empty_document_says_nothing():
    """A bank without configuration keeps revisions for the default time, speaks in the first person, has all topics."""
    assert bank_config({}) == BankConfig()


def test_a_document_is_read():
    """Revision TTL, revision switch, person, topics and what they mean come from where the wire format puts them."""
    document = {
        "ttlConfig": {"memoryRevisionDefaultTtl": "3600s"},
        "disableMemoryRevisions": True,
        "customizationConfigs": [
            {"scopeKeys": ["user_id"], "enableThirdPersonMemories": False, "memoryTopics": []},
            {
                "enableThirdPersonMemories": True,
                "memoryTopics": [
                    {"managedMemoryTopic": {"managedTopicEnum": "USER_PREFERENCES"}},
                    {"customMemoryTopic": {"label": "jargon", "description": "words of ours"}},
                ],
            },
        ],
    }
    told = {"jargon": "words of ours"}
    topics = ("USER_PREFERENCES", "jargon")
    assert bank_config(document) == BankConfig(document, timedelta(hours=1), True, True, topics, told)


def test_a_customization_for_some_scopes_is_not_everybodys():
    """Only the customization without scope keys holds for the whole bank."""
    scoped = {"customizationConfigs": [{"scopeKeys": ["user_id"], "enableThirdPersonMemories": True}]}
    assert bank_config(scoped).third_person is False


@pytest.mark.parametrize(
    ("scope", "topic"),
    [({"x"}, "default"), ({"a"}, "a"), ({"a", "b"}, "ab"), ({"a", "b", "c"}, "ab"), ({"b"}, "default")],
)
def test_the_most_specific_customization_governs_a_scope(scope, topic):
    """All keys of a customization must be in the scope; the one with most keys governs, whatever the order."""
    made = [
        {"scopeKeys": keys, "memoryTopics": [{"customMemoryTopic": {"label": label}}]}
        for keys, label in (([], "default"), (["a", "b"], "ab"), (["a"], "a"))
    ]
    for configs in (made, made[::-1]):
        assert bank_config({"customizationConfigs": configs}, scope).topics == (topic,)
    assert bank_config({"customizationConfigs": made[1:]}, {"x"}).topics == ()


def test_ttls_of_memories():
    """A granular TTL governs its own case; where a bank of old has both, the default one governs the rest."""
    granular = {"granularTtlConfig": {"generateCreatedTtl": "60s"}, "defaultTtl": "120s"}
    config = bank_config({"ttlConfig": granular})
    minute = timedelta(minutes=1)
    assert (config.generate_created_ttl, config.generate_updated_ttl, config.create_ttl) == (
        minute,
        2 * minute,
        2 * minute,
    )
    assert bank_config({"ttlConfig": {}}).generate_created_ttl is None


@pytest.mark.parametrize(
    ("text", "span"), [("300s", timedelta(minutes=5)), ("1.5s", timedelta(seconds=1.5)), ("", None), (None, None)]
)
def test_durations_are_protobufs(text, span):
    """A duration is a number of seconds with an s."""
    assert parse_duration(text) == span


def test_the_banks_default_rule():
    """The default trigger is read whole."""
    rule = {"eventCount": 10, "idleDuration": "300s", "overlapEventCount": 2}
    assert default_rule(_generation(rule)) == TriggerRule(10, timedelta(minutes=5), None, 2)
    assert default_rule(_generation({"fixedInterval": "60s"})) == TriggerRule(interval=timedelta(minutes=1))


@pytest.mark.parametrize("document", [{}, {"generationConfig": {"model": "m"}}])
def test_a_bank_without_a_rule_has_none(document):
    """Where the bank names no rule, streams without one flush at once."""
    assert default_rule(document) is None
    assert default_rule(_generation({})) is None


def _generation(rule):
    return {"generationConfig": {"generationTriggerConfig": {"generationRule": rule}}}
