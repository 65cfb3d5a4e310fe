import json
from datetime import UTC, datetime

import pytest

from streambank.rules.filtering import Kind, parse

FIELDS = {"fact": Kind.TEXT, "create_time": Kind.TIMESTAMP, "scope": Kind.TEXT_MAP, "labels": Kind.TEXT_MAP}
SCOPE = json.dumps(json.dumps({"app": "x", "user_id": "123"}))


def test_equality_at_the_top_is_pinned():
    """What any match must equal can be read from a conjunction, so that one scope is read instead of all."""
    found = parse(f"scope={SCOPE} AND (fact=a AND create_time=0) labels.x=1 labels.y:2", FIELDS)
    assert found.pinned("scope") == {"user_id": "123", "app": "x"}
    assert found.pinned_keys("scope") == {"user_id": "123", "app": "x"}
    assert found.pinned("fact") == "a"
    assert found.pinned("create_time") == datetime(1970, 1, 1, tzinfo=UTC)
    assert found.pinned_keys("labels") == {"x": "1", "y": "2"}
    assert found.pinned("labels") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"NOT scope={SCOPE}",
        f"scope!={SCOPE}",
        f"scope={SCOPE} OR fact=a",
        "scope:user_id",
        "scope.user_id!=1",
        "scope.user_id:*",
        'scope.user_id=~"1"',
        "NOT (NOT scope.user_id=1)",
    ],
)
def test_nothing_else_is_pinned(text):
    """A disjunction, a negation or another operator pins nothing."""
    assert parse(text, FIELDS).pinned("scope") is None
    assert parse(text, FIELDS).pinned_keys("scope") == {}


def test_a_pin_belongs_to_its_reader():
    """Changing what `pinned` returned changes no filter."""
    found = parse(f"scope={SCOPE}", FIELDS)
    found.pinned("scope").clear()
    found.pinned_keys("scope").clear()
    assert found.matches({"scope": {"user_id": "123", "app": "x"}})
