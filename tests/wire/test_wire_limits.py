"""Limits of what is not read by an ingest: a bank's configuration, and topics."""

import pytest

from streambank.errors import InvalidArgument
from streambank.wire import bank, topics


def nested(levels):
    value = "leaf"
    for _ in range(levels):
        value = {"a": value}
    return value


def with_part(part):
    """Return a bank's request whose only example has *part*."""
    example = {"conversationSource": {"events": [{"content": {"parts": [part]}}]}}
    return {"contextSpec": {"memoryBankConfig": {"customizationConfigs": [{"generateMemoriesExamples": [example]}]}}}


def test_a_configuration_has_a_depth():
    """The deepest configuration is taken; one level more is refused by the field's name."""
    above_a_part = 12
    bank.BankRequest.parse(with_part(nested(bank.MAX_DEPTH - above_a_part)))
    with pytest.raises(InvalidArgument, match="levels deep") as refused:
        bank.BankRequest.parse(with_part(nested(bank.MAX_DEPTH - above_a_part + 1)))
    assert refused.value.field == "contextSpec.memoryBankConfig"


def test_topics_are_a_list_of_bounded_length():
    """A hundred topics are taken; one more, and what is no list, are refused by the field's name."""
    one = {"customMemoryTopicLabel": "tea"}
    assert topics.topics([one] * topics.MAX_TOPICS, "t") == ("tea",) * topics.MAX_TOPICS
    for bad in ([one] * (topics.MAX_TOPICS + 1), one, "tea"):
        with pytest.raises(InvalidArgument, match="list of at most 100 topics") as refused:
            topics.topics(bad, "t")
        assert refused.value.field == "t"


def test_topics_are_bounded_together():
    """Topics of 32 KB together are taken, whatever their script; one byte more is refused by the field's name."""
    labels = [{"customMemoryTopicLabel": "\U0001d518" * 255 + "x" * 2}] * 32
    assert len(topics.topics(labels, "t")) == 32
    with pytest.raises(InvalidArgument, match="has 32771 bytes of JSON; the limit is 32768") as refused:
        topics.topics([*labels, {"customMemoryTopicLabel": "x"}], "t")
    assert refused.value.field == "t"
