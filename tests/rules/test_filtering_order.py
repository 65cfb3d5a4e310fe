import contextlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streambank.errors import InvalidArgument
from streambank.rules.filtering import parse_order

ALLOWED = ("create_time", "update_time", "rank")
DEFAULT = "create_time desc"
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "create_time desc"),
        ("", "create_time desc"),
        ("  ", "create_time desc"),
        ("create_time", "create_time"),
        ("createTime asc", "create_time"),
        (" update_time  desc ,createTime", "update_time desc, create_time"),
        ("rank,create_time desc,updateTime", "rank, create_time desc, update_time"),
    ],
)
def test_an_order_is_said_in_one_way(text, said):
    """Both spellings, ascending by default; the description is itself an order and the same for equal orders."""
    order = parse_order(text, ALLOWED, DEFAULT)
    assert str(order) == said
    assert parse_order(str(order), ALLOWED, DEFAULT) == order


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("color", "no field 'color' to order by, only create_time, update_time and rank"),
        ("create_time descending", "create_time may only be followed by asc or desc"),
        ("create_time DESC", "only be followed by asc or desc"),
        ("create_time desc desc", "only be followed by asc or desc"),
        ("create_time,", "no field ''"),
        (",", "no field ''"),
        ("create_time, createTime desc", "a field twice"),
        ("create_time,update_time,rank,create_time", "has 4 fields; the limit is 3"),
    ],
)
def test_an_unknown_order_is_refused(text, problem):
    """An order that is not understood is an error, not the default."""
    with pytest.raises(InvalidArgument) as refused:
        parse_order(text, ALLOWED, DEFAULT, field_name="order_by")
    assert refused.value.field == "order_by"
    assert problem in refused.value.problem


times = st.one_of(st.none(), st.integers(0, 2).map(lambda days: START + timedelta(days)))
rows = st.lists(st.fixed_dictionaries({"create_time": times, "rank": st.sampled_from([None, 1, 2])}), max_size=8)


@given(rows=rows, down=st.booleans(), rank_down=st.booleans())
@settings(max_examples=100)
def test_every_item_comes_once_in_order(rows, down, rank_down):
    """Neighbours stand as the keys say, ties stay as they came, absent values come last, nothing is lost."""
    order = parse_order(f"create_time{' desc' * down}, rank{' desc' * rank_down}", ALLOWED, DEFAULT)
    found = order.sorted(range(len(rows)), rows.__getitem__)

    def place(index):
        return [
            (value is None, 0 if value is None else -number(value) if falling else number(value))
            for value, falling in ((rows[index]["create_time"], down), (rows[index]["rank"], rank_down))
        ]

    def number(value):
        return value if isinstance(value, int) else (value - START).days

    assert found == sorted(range(len(rows)), key=lambda index: (place(index), index))


@given(text=st.text(max_size=30))
@settings(max_examples=100)
def test_any_text_is_an_order_or_refused(text):
    """Nothing but InvalidArgument comes out."""
    with contextlib.suppress(InvalidArgument):
        assert parse_order(text, ALLOWED, DEFAULT).keys
