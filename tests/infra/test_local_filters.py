"""Event filter patterns, against AWS's documented examples and the template's own."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samtranslator.yaml_helper import yaml_parse

from streambank_local.emulator import filters

TEMPLATE = Path(__file__).resolve().parents[2] / "template.yaml"

# https://docs.aws.amazon.com/lambda/latest/dg/with-ddb-filtering.html
CUSTOMER = {
    "eventID": "1",
    "eventVersion": "1.0",
    "dynamodb": {
        "ApproximateCreationDateTime": "1678831218.0",
        "Keys": {"CustomerName": {"S": "AnyCompany Industries"}},
        "NewImage": {
            "AccountManager": {"S": "Pat Candella"},
            "PaymentTerms": {"S": "60 days"},
            "CustomerName": {"S": "AnyCompany Industries"},
        },
        "SequenceNumber": "111",
        "SizeBytes": 26,
        "StreamViewType": "NEW_IMAGE",
    },
}
MEMBER = {
    "dynamodb": {
        "NewImage": {
            "UserID": {"S": "12345"},
            "Organizations": {"L": [{"S": "Sales"}, {"S": "Marketing"}, {"S": "Support"}]},
        }
    }
}


def in_image(**attributes: Any) -> dict[str, Any]:
    return {"dynamodb": {"NewImage": attributes}}


@pytest.mark.parametrize(
    ("pattern", "record", "matched"),
    [
        ({"dynamodb": {"Keys": {"CustomerName": {"S": ["AnyCompany Industries"]}}}}, CUSTOMER, True),
        ({"dynamodb": {"Keys": {"CustomerName": {"S": ["AnyCompany"]}}}}, CUSTOMER, False),
        (in_image(AccountManager={"S": ["Pat Candella", "Shirley Rodriguez"]}), CUSTOMER, True),
        (in_image(AccountManager={"S": ["Pat Candella"]}, PaymentTerms={"S": ["30 days"]}), CUSTOMER, False),
        (
            in_image(AccountManager={"S": ["Pat Candella"]}, PaymentTerms={"S": [{"anything-but": ["30 days"]}]}),
            CUSTOMER,
            True,
        ),
        # Exists works on leaves: not on the attribute, but on the value inside of its type.
        (in_image(Organizations=[{"exists": True}]), MEMBER, False),
        (in_image(UserID={"S": [{"exists": True}]}), MEMBER, True),
        (in_image(Organizations={"L": {"S": [{"exists": True}]}}), MEMBER, True),
        (in_image(Missing={"S": [{"exists": False}]}), MEMBER, True),
        # Without the outer level nothing is there to match.
        ({"Keys": {"CustomerName": {"S": ["AnyCompany Industries"]}}}, CUSTOMER, False),
    ],
)
def test_documented_dynamodb_examples(pattern: Any, record: Any, matched: bool) -> None:
    """The examples of the page on DynamoDB filters hold."""
    assert filters.matches(pattern, record) is matched


# https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html#filtering-syntax
@pytest.mark.parametrize(
    ("rule", "matching", "other"),
    [
        ({"UserID": [None]}, {"UserID": None}, {"UserID": "1"}),
        ({"LastName": [""]}, {"LastName": ""}, {"LastName": "x"}),
        ({"Name": ["Alice"]}, {"Name": "Alice"}, {"Name": "alice"}),
        ({"Name": [{"equals-ignore-case": "alice"}]}, {"Name": "ALICE"}, {"Name": "Bob"}),
        (
            {"Location": ["New York"], "Day": ["Monday"]},
            {"Location": "New York", "Day": "Monday"},
            {"Location": "New York", "Day": "Friday"},
        ),
        ({"PaymentType": ["Credit", "Debit"]}, {"PaymentType": "Debit"}, {"PaymentType": "Cash"}),
        (
            {"$or": [{"Location": ["New York"]}, {"Day": ["Monday"]}]},
            {"Location": "Boston", "Day": "Monday"},
            {"Location": "Boston", "Day": "Friday"},
        ),
        ({"Weather": [{"anything-but": ["Raining"]}]}, {"Weather": "Sunny"}, {"Weather": "Raining"}),
        ({"Weather": [{"anything-but": "Raining"}]}, {"Weather": "Sunny"}, {}),
        ({"Price": [{"numeric": ["=", 100]}]}, {"Price": 100}, {"Price": 100.5}),
        ({"Price": [{"numeric": [">", 10, "<=", 20]}]}, {"Price": 20}, {"Price": 10}),
        ({"Price": [{"numeric": [">", 10]}]}, {"Price": 11}, {"Price": "11"}),
        ({"ProductName": [{"exists": True}]}, {"ProductName": "x"}, {}),
        ({"ProductName": [{"exists": False}]}, {}, {"ProductName": "x"}),
        ({"Region": [{"prefix": "us-"}]}, {"Region": "us-east-1"}, {"Region": "eu-us-1"}),
        ({"FileName": [{"suffix": ".png"}]}, {"FileName": "a.png"}, {"FileName": "a.png.zip"}),
        ({"Tags": ["b"]}, {"Tags": ["a", "b"]}, {"Tags": ["a"]}),
        ({"Flag": [True]}, {"Flag": True}, {"Flag": 1}),
    ],
)
def test_documented_rules(rule: Any, matching: Any, other: Any) -> None:
    """Each rule of the syntax table takes its example and leaves another."""
    assert filters.matches(rule, matching)
    assert not filters.matches(rule, other)


def test_unknown_rule_is_an_error() -> None:
    """A rule that AWS does not know is an error, and no match."""
    with pytest.raises(ValueError, match="wildcard"):
        filters.matches({"Name": [{"wildcard": "A*"}]}, {"Name": "Alice"})


def test_one_of_several_patterns_is_enough() -> None:
    """Patterns are alternatives, and no pattern at all lets everything pass."""
    patterns = [{"a": [1]}, {"b": [2]}]
    assert filters.passes(patterns, {"b": 2})
    assert not filters.passes(patterns, {"b": 1, "a": 2})
    assert filters.passes([], {})


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=3)


@given(st.dictionaries(st.text(max_size=3), VALUES, min_size=1, max_size=4))
def test_record_matches_the_pattern_made_of_itself(record: dict[str, Any]) -> None:
    """A pattern of a record's own values matches it, and no longer once a field is gone."""
    pattern = {name: [value] for name, value in record.items() if name != "$or"}
    assert filters.matches(pattern, record)
    for name in pattern:
        assert not filters.matches(pattern, {key: value for key, value in record.items() if key != name})


def template_patterns() -> list[Any]:
    template = yaml_parse(TEMPLATE.read_text())
    event = template["Resources"]["OnStream"]["Properties"]["Events"]["Table"]["Properties"]
    return [json.loads(entry["Pattern"]) for entry in event["FilterCriteria"]["Filters"]]


def record(name: str, sk: str, **image: dict[str, str]) -> dict[str, Any]:
    keys = {"PK": {"S": "S#default#x"}, "SK": {"S": sk}}
    change: dict[str, Any] = {"Keys": keys}
    if name != "REMOVE":
        change["NewImage"] = keys | image
    return {"eventName": name, "dynamodb": change}


def window(name: str, status: str, attempt: int, *, new: bool = False) -> dict[str, Any]:
    return record(name, "W#1", st={"S": status}, att={"N": str(attempt)}, **({"new": {"N": "1"}} if new else {}))


@pytest.mark.parametrize(
    ("change", "wakes"),
    [
        (record("MODIFY", "HEAD", ripe={"N": "1"}), True),
        (record("INSERT", "HEAD", ripe={"N": "1"}), True),
        (record("MODIFY", "HEAD", ripe={"N": "0"}), False),
        (record("MODIFY", "HEAD"), False),
        (window("INSERT", "SEALED", 0, new=True), True),
        (window("MODIFY", "SEALED", 0), False),
        (window("INSERT", "SEALED", 1, new=True), False),
        (window("MODIFY", "SEALED", 1), False),
        (window("MODIFY", "DONE", 0), True),
        (window("MODIFY", "DONE", 3), True),
        (window("MODIFY", "PARKED", 5), True),
        (window("MODIFY", "ERASED", 0), True),
        (record("REMOVE", "HEAD"), False),
        (record("REMOVE", "W#1"), False),
        (record("INSERT", "B#1", st={"S": "DONE"}), False),
        (record("INSERT", "P#1#0"), False),
        (record("INSERT", "D#abc", ripe={"N": "1"}), False),
    ],
)
def test_template_wakes_for_what_it_should(change: dict[str, Any], wakes: bool) -> None:
    """A ripe head, a new sealed window and an ended one wake the stream function, and nothing else does."""
    assert filters.passes(template_patterns(), change) is wakes
