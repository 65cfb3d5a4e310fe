"""How large a conversation is, and may be."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.errors import PayloadTooLarge
from streambank.model.chat import ChatSize
from streambank.rules.chat_size import MAX_MESSAGES, MAX_REPLY_BYTES, check_size, size_of
from streambank.wire import http

_texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
_messages = st.lists(st.dictionaries(_texts, _texts, max_size=3), max_size=4)


@given(_messages, _messages)
def test_the_sum_of_two_sizes_is_the_size_of_both_lists(first, second):
    """An append knows the size of the whole without reading it."""
    assert size_of(first) + size_of(second) == size_of(first + second)


@given(_messages)
def test_a_size_is_what_a_reply_takes(messages):
    """The bytes are those that the gateway counts, in the shorter of the two encodings."""
    raw = json.dumps(messages, ensure_ascii=False, separators=(",", ":"))
    assert size_of(messages).reply_bytes == http.sent_bytes(raw)


def test_what_no_reply_could_hold_is_too_large():
    """The limits of messages and of bytes hold, each up to the last one."""
    check_size(ChatSize(MAX_MESSAGES, MAX_REPLY_BYTES, MAX_REPLY_BYTES))
    for size in (ChatSize(MAX_MESSAGES + 1, 2, 2), ChatSize(1, MAX_REPLY_BYTES + 1, MAX_REPLY_BYTES)):
        with pytest.raises(PayloadTooLarge):
            check_size(size)
