from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from streambank.rules.fairness import round_robin

ITEMS = st.lists(st.tuples(st.sampled_from("abc"), st.integers()))


def owner(item):
    return item[0]


@given(items=ITEMS)
def test_nothing_is_lost_and_owners_keep_their_order(items):
    """Every item comes once, and those of one owner in the order they had."""
    taken = list(round_robin(items, owner))
    assert Counter(taken) == Counter(items)
    for one in "abc":
        assert [item for item in taken if owner(item) == one] == [item for item in items if owner(item) == one]


@given(items=ITEMS)
def test_nobody_gets_two_turns_while_another_waits(items):
    """At any point no owner with items left has had fewer turns than another, less one."""
    left, had = Counter(map(owner, items)), Counter()
    for item in round_robin(items, owner):
        waiting = [had[one] for one in left if left[one]]
        assert had[owner(item)] == min(waiting)
        left[owner(item)] -= 1
        had[owner(item)] += 1
