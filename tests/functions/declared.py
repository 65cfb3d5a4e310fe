"""What the template declares, as the tests of functions need it."""

import json

from tests.aws import template

RESOURCES = template()["Resources"]
FUNCTIONS = {
    name: found["Properties"] for name, found in RESOURCES.items() if found["Type"] == "AWS::Serverless::Function"
}
GLOBALS = template()["Globals"]["Function"]
FILTERS = [
    json.loads(found["Pattern"])
    for found in FUNCTIONS["OnStream"]["Events"]["Table"]["Properties"]["FilterCriteria"]["Filters"]
]


def statements(name):
    return [statement for policy in FUNCTIONS[name]["Policies"] for statement in policy["Statement"]]
