"""Every role against what its function really asks of AWS: nothing missing, and nothing unused without a reason."""

import os

import pytest

from streambank_local.service import LocalService, set_overrides
from tests.bedrock.converse_server import Bedrock, running
from tests.functions import asking
from tests.functions.declared import FUNCTIONS, statements
from tests.functions.touring import made_key, tour

# What a role allows and the tour does not hear.
UNHEARD = {
    "OnStream": {
        "dynamodb:DescribeStream": "Lambda reads the stream with the function's role",
        "dynamodb:GetRecords": "likewise",
        "dynamodb:GetShardIterator": "likewise",
        "dynamodb:ListStreams": "likewise",
        "sqs:SendMessage": "Lambda reports a batch that could not be handled with the function's role",
    },
    "Api": {"s3:ListBucket": "S3 answers 404, not 403, for an export that is not there"},
    "OnSchedule": {"s3:ListBucket": "as for Api"},
}
PARAMETERS = {"Model": "bedrock", "AuthMode": "keys", "GuardrailId": "guard", "ModelTimeoutSeconds": "2"}


@pytest.fixture(scope="module")
def asked() -> dict[str, set[str]]:
    """What the functions asked of AWS on a tour of all routes, timers, failures and repairs."""
    heard: list[asking.Asked] = []

    def prepare(clock: object) -> None:
        heard.append(asking.listen())
        set_overrides(clock)

    with running(Bedrock()) as bedrock:
        os.environ["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"] = bedrock.url
        with LocalService(parameters=PARAMETERS, timer_enabled=False, prepare=prepare) as service:
            tour(service, bedrock, made_key(service))
        del os.environ["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"]
    return heard[0].actions


def allowed(name: str) -> set[str]:
    """Return the actions of a function's role as requests spell them."""
    found = set()
    for statement in statements(name):
        resources = statement["Resource"] if isinstance(statement["Resource"], list) else [statement["Resource"]]
        index = [resource.rpartition("/index/")[2] for resource in resources if "/index/" in resource]
        found |= {f"{action} {index[0]}" if index else action for action in statement["Action"]}
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_role_allows_what_its_function_asks_for_and_no_more(asked, name):
    """Action by action and index by index, a role equals what its function was heard to ask for."""
    heard = asked[FUNCTIONS[name]["Handler"].partition(".")[0]]
    assert heard
    unused = allowed(name) - heard
    assert heard - allowed(name) == set()
    assert unused == set(UNHEARD.get(name, {}))


@pytest.mark.parametrize("name", ["Api", "OnSchedule"])
def test_a_function_that_embeds_may_use_no_other_model(name):
    """Requests of callers embed texts: the roles behind them reach embedding models alone."""
    [resources] = [one["Resource"] for one in statements(name) if one["Action"] == ["bedrock:InvokeModel"]]
    assert all("embed" in resource.rpartition("/")[2] for resource in resources)
