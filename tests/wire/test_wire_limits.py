"""Limits of what is not read by an ingest: a bank's configuration, and topics."""

import pytest

from streambank.errors import InvalidArgument
from streambank.wire import bank, topics


def nested(levels):
    value = "leaf"
    for _ in range(levels):
        value = {"a": value}
    return value


def test_a_configuration_has_a_depth():
    """The deepest configuration is taken; one level more is refused by the field's name."""
    bank.check_text(nested(bank.MAX_DEPTH))
    with pytest.raises(InvalidArgument, match="levels deep"):
        bank.check_text(nested(bank.MAX_DEPTH + 1))


def test_topics_are_a_list_of_bounded_length():
    """A hundred topics are taken; one more, and what is no list, are refused by the field's name."""
    one = {"customMemoryTopicLabel": "tea"}
    assert topics.topics([one] * topics.MAX_TOPICS, "t") == ("tea",) * topics.MAX_TOPICS
    for bad in ([one] * (topics.MAX_TOPICS + 1), one, "tea"):
        with pytest.raises(InvalidArgument, match="list of at most 100 topics") as refused:
            topics.topics(bad, "t")
        assert refused.value.field == "t"
