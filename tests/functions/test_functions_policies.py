"""Every role against what its function really asks of AWS: nothing missing, and nothing unused without a reason."""

import os
from fnmatch import fnmatchcase

import pytest

from streambank.store import keys
from streambank_local.service import LocalService, set_overrides
from tests.bedrock.converse_server import Bedrock, running
from tests.functions import asking
from tests.functions.declared import FUNCTIONS, RESOURCES, statements
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
    "OnChange": {
        "dynamodb:DescribeStream": "Lambda reads the stream with the function's role",
        "dynamodb:GetRecords": "likewise",
        "dynamodb:GetShardIterator": "likewise",
        "dynamodb:ListStreams": "likewise",
        "sqs:SendMessage": "Lambda reports a batch that could not be handled with the function's role",
    },
    "Api": {"s3:ListBucket": "S3 answers 404, not 403, for an export that is not there"},
    "OnSchedule": {"s3:ListBucket": "as for Api"},
}
PARAMETERS = {
    "Model": "bedrock",
    "AuthMode": "keys",
    "GuardrailId": "guard",
    "ModelTimeoutSeconds": "2",
    "ChangeEventBus": "default",
    "ChangeEventDetail": "FULL",
}


@pytest.fixture(scope="module")
def asked() -> asking.Asked:
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
    return heard[0]


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
    heard = asked.actions[FUNCTIONS[name]["Handler"].partition(".")[0]]
    assert heard
    unused = allowed(name) - heard
    assert heard - allowed(name) == set()
    assert unused == set(UNHEARD.get(name, {}))


# ---- partitions


def items(name: str) -> list[dict]:
    """Return the statements of a function's role that are about items of the table."""
    return [one for one in statements(name) if str(one["Resource"]).endswith("Table.Arn")]


def patterns(statement: dict) -> list[str]:
    """Return the partitions that a statement allows; one without a condition would allow all of them."""
    found: list[str] = statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    return found


def is_allowed(statement: dict, action: str, partitions: frozenset[str]) -> bool:
    """Tell whether a statement allows a request: all its partitions at once, as IAM judges it."""
    return action in statement["Action"] and all(
        any(fnmatchcase(one, pattern) for pattern in patterns(statement)) for one in partitions
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_role_reaches_what_its_function_uses_and_no_more(asked, name):
    """Each request of the tour to the table is allowed by one statement, and each partition of a statement is used."""
    requests = asked.partitions[FUNCTIONS[name]["Handler"].partition(".")[0]]
    heard = {(action, partitions) for action, partitions in requests if " " not in action}  # others name an index
    refused = [request for request in heard if not any(is_allowed(one, *request) for one in items(name))]
    assert refused == []
    for statement in items(name):
        used = {one for request in heard if is_allowed(statement, *request) for one in request[1]}
        assert used == set(patterns(statement))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_keys_and_secrets_are_read_by_those_who_need_them(name):
    """A key is read by who answers callers, the secret of page tokens by Api; nobody lists, changes or makes keys."""
    a_key, secret = keys.api_key("abcdefghijkl").pk, keys.PAGE_SECRET.pk
    reached = {
        (action, partition)
        for statement in items(name)
        for action in statement["Action"]
        for partition in (a_key, secret, keys.API_KEYS)
        if any(fnmatchcase(partition, pattern) for pattern in patterns(statement))
    }
    wanted = {("dynamodb:GetItem", a_key)} if name in ("Ingest", "Api") else set()
    if name == "Api":
        wanted |= {("dynamodb:GetItem", secret), ("dynamodb:PutItem", secret)}
    assert reached == wanted


def test_no_route_lists_api_keys(asked):
    """Api may read each partition of index `list` that a route reads, and not the one that holds all API keys."""
    [listing] = [one for one in statements("Api") if "/index/list" in str(one["Resource"])]
    heard = {one for action, partitions in asked.partitions["api"] if action.endswith(" list") for one in partitions}
    assert heard
    assert all(is_allowed(listing, "dynamodb:Query", frozenset({one})) for one in heard)
    assert not is_allowed(listing, "dynamodb:Query", frozenset({keys.API_KEYS}))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_banks_own_items_are_written_by_those_who_change_banks(name):
    """What ingests, and what a model's answer steers, changes no bank and no configuration of one."""
    writes = {"dynamodb:BatchWriteItem", "dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem"}
    reached = {
        partition
        for statement in items(name)
        for partition in (keys.bank("1").pk, keys.bank_config("1").pk)
        if writes & set(statement["Action"]) and any(fnmatchcase(partition, one) for one in patterns(statement))
    }
    assert bool(reached) is (name in ("Api", "OnSchedule"))


def test_who_asks_about_personal_data_may_count_it():
    """The policy of the service for personal data lets each function that has it write the usage of a bank, no more."""
    statements = RESOURCES["FindsPersonalData"]["Properties"]["PolicyDocument"]["Statement"]
    [counting] = [one for one in statements if "dynamodb" in str(one["Action"])]
    assert counting["Action"] == ["dynamodb:UpdateItem"]
    assert [fnmatchcase(keys.usage("1", "2026-01-01").pk, one) for one in patterns(counting)] == [True]


@pytest.mark.parametrize("name", ["Api", "OnSchedule"])
def test_a_function_that_embeds_may_use_no_other_model(name):
    """Requests of callers embed texts: the roles behind them reach embedding models alone."""
    [resources] = [one["Resource"] for one in statements(name) if one["Action"] == ["bedrock:InvokeModel"]]
    assert all("embed" in resource.rpartition("/")[2] for resource in resources)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_vector_index_is_searched_by_those_who_look_for_memories(name):
    """Who retrieves or generates may search the index and nothing else of the table by it, without a condition."""
    searching = [one for one in statements(name) if "dynamodb:SearchVectors" in one["Action"]]
    assert bool(searching) is (name in ("Api", "Extract", "Consolidate", "Replay"))
    for statement in searching:
        assert statement["Action"] == ["dynamodb:SearchVectors"]
        assert statement["Resource"] == "${Table.Arn}/index/vectors"
        # DynamoDB puts no key into the context of a search: a condition about keys would refuse each.
        assert "Condition" not in statement
