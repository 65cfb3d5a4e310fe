"""What the template declares, as the tests of functions need it."""

import json

from tests.aws import template

RESOURCES = template()["Resources"]
FUNCTIONS = {
    name: found["Properties"] for name, found in RESOURCES.items() if found["Type"] == "AWS::Serverless::Function"
}
GLOBALS = template()["Globals"]["Function"]


def filters(name):
    """The patterns of the records of the table's stream that a function gets."""
    criteria = FUNCTIONS[name]["Events"]["Table"]["Properties"]["FilterCriteria"]
    return [json.loads(found["Pattern"]) for found in criteria["Filters"]]


FILTERS = filters("OnStream")


def statements(name):
    """What a function's own role allows, whatever a parameter leaves out."""
    role = RESOURCES[FUNCTIONS[name]["Role"].partition(".")[0]]["Properties"]
    [policy] = role["Policies"]
    return [_meant(statement) for statement in policy["PolicyDocument"]["Statement"]]


def _meant(statement):
    # An !If is the list of its condition and its two outcomes; the stack's own table is the first.
    statement = statement[1] if isinstance(statement, list) else statement
    resource = statement["Resource"]
    return statement | {"Resource": resource[1]} if resource[0] == "HasOwnTable" else statement
