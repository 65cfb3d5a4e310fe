"""The template and the code name the same things."""

import pytest

from streambank.rules import word_vectors
from streambank.settings import Settings
from streambank_local.emulator.filters import passes
from tests import aws
from tests.aws import ROOT, template
from tests.functions.declared import FILTERS, FUNCTIONS, GLOBALS, RESOURCES, filters, statements
from tests.world import event


def test_every_handler_exists():
    """Each function of the template is a file with a handler, and each file is a function of the template."""
    modules = [properties["Handler"].partition(".") for properties in FUNCTIONS.values()]
    assert {function for _, _, function in modules} == {"handler"}
    files = {path.stem for path in (ROOT / "functions").glob("*.py")}
    assert sorted(module for module, _, _ in modules) == sorted(files)


def environment(name):
    own = FUNCTIONS[name].get("Environment", {}).get("Variables", {})
    return GLOBALS["Environment"]["Variables"] | own


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_told_its_settings(name):
    """What settings read without a default is in every function's environment; who starts executions knows where."""
    found = environment(name)
    plain = dict.fromkeys(found, "45") | {"AUTH_MODE": "keys", "MODEL_PRICES": "", "STREAMBANK_MODEL": "openai"}
    plain |= {"CHANGE_EVENT_DETAIL": "FULL"}
    plain |= dict.fromkeys(("OPENAI_BASE_URL", "OPENAI_EMBEDDING_BASE_URL"), "https://models.example/v1")
    assert Settings.read(plain).table == "45"
    allowed = [action for statement in statements(name) for action in statement["Action"]]
    assert ("STATE_MACHINE_ARN" in found) is ("states:StartExecution" in allowed)


def test_the_key_of_a_server_of_models_is_for_those_that_call_models():
    """One parameter, by its own name, for the roles that may call Bedrock's models too, and only if there is a key."""
    policy = RESOURCES["ModelKeyPolicy"]
    [statement] = policy["Properties"]["PolicyDocument"]["Statement"]
    assert policy["Condition"] == "HasModelKey"
    assert statement["Action"] == ["ssm:GetParameter"]
    assert "parameter${OpenAiKeySecret}" in str(statement["Resource"])
    callers = {f"{name}Role" for name in FUNCTIONS if "bedrock:InvokeModel" in str(statements(name))}
    assert set(policy["Properties"]["Roles"]) == callers


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_function_may_do_everything(name):
    """Roles name actions and resources; nothing scans; sessions and banks alone are deleted item by item."""
    for statement in statements(name):
        assert not any("*" in action for action in statement["Action"])
        assert statement["Resource"] != "*"
    actions = {action for statement in statements(name) for action in statement["Action"]}
    assert "dynamodb:Scan" not in actions
    assert ("dynamodb:BatchWriteItem" in actions) is (name in ("OnSchedule", "Api"))


def test_what_is_kept_is_kept_safely():
    """The table outlives the stack, is encrypted, can be restored, drops what expired and streams its new images."""
    table = RESOURCES["Table"]
    assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")
    properties = table["Properties"]
    assert properties["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}
    assert properties["StreamSpecification"] == {"StreamViewType": "NEW_IMAGE"}
    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert properties["BillingMode"] == "PAY_PER_REQUEST"


def test_the_indexes_are_sparse_and_hold_keys():
    """`due` and `list` are what the store queries, and hold nothing but keys."""
    found = {index["IndexName"]: index for index in RESOURCES["Table"]["Properties"]["GlobalSecondaryIndexes"]}
    assert {name: [key["AttributeName"] for key in index["KeySchema"]] for name, index in found.items()} == {
        "due": ["G1PK", "G1SK"],
        "list": ["G2PK", "G2SK"],
    }
    assert {index["Projection"]["ProjectionType"] for index in found.values()} == {"KEYS_ONLY"}


def test_the_vector_index_is_of_word_and_meaning_vectors():
    """`vectors` searches one hash, holds what a search needs, and has the numbers of a word-and-meaning vector."""
    properties = RESOURCES["Table"]["Properties"]
    [index] = properties["VectorIndexes"]
    assert (index["IndexName"], index["VectorAttribute"], index["DistanceFunction"]) == (
        "vectors",
        {"AttributeName": "v"},
        "DOT_PRODUCT",
    )
    assert index["SearchSchema"] == [{"AttributeName": "VPK", "SearchSchemaElementType": "HASH"}]
    assert index["Projection"] == {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["w"]}
    assert int(index["Dimensions"]) == word_vectors.DIMENSIONS


def test_each_attribute_that_is_defined_is_one_of_a_key():
    """DynamoDB refuses a definition that no key and no index uses; cfn-lint does not know the vector index."""
    properties = RESOURCES["Table"]["Properties"]
    used = [key for one in [properties, *properties["GlobalSecondaryIndexes"]] for key in one["KeySchema"]]
    used += [key for one in properties["VectorIndexes"] for key in one["SearchSchema"]]
    defined = [one["AttributeName"] for one in properties["AttributeDefinitions"]]
    assert sorted(defined) == sorted({key["AttributeName"] for key in used})


def test_retention_is_never_shorter_than_an_open_window():
    """A window may be open for 30 days: events live 45 at least, so nothing unprocessed expires (I6)."""
    assert template()["Parameters"]["EventRetentionDays"]["MinValue"] >= 45


def test_ingest_has_its_own_routes_and_no_pattern_that_swallows_others():
    """The hot path is a route of its own, with and without a project; everything else goes to one function."""
    routes = {
        (found["Properties"]["Method"], found["Properties"]["Path"]) for found in FUNCTIONS["Ingest"]["Events"].values()
    }
    assert routes == {
        ("POST", "/{version}/projects/{project}/locations/{location}/{collection}/{bank}/memories:ingestEvents"),
        ("POST", "/{version}/{collection}/{bank}/memories:ingestEvents"),
    }
    rest = [found["Properties"] for found in FUNCTIONS["Api"]["Events"].values()]
    assert {(found["Method"], found["Path"]) for found in rest} == {("ANY", "/{proxy+}"), ("ANY", "/")}


def test_the_sweep_comes_each_minute():
    """The schedule alone recovers everything, a minute late at most."""
    [schedule] = FUNCTIONS["OnSchedule"]["Events"].values()
    assert schedule["Properties"]["ScheduleExpression"] == "rate(1 minute)"


# ---- the stream's filters


def test_change_records_wake_the_function_that_publishes_them(world):
    """A change record wakes it when it is written, and neither when it expires nor for any other item."""
    world.ingest(event("I like tea", "e1"), forceFlush=True)
    world.settle()
    told = [item for item in aws.dump(world.client) if passes(filters("OnChange"), record(item, "INSERT"))]
    assert [item["SK"]["S"] for item in told] == ["L#000000000001"]
    assert not any(passes(filters("OnChange"), record(told[0], name)) for name in ("MODIFY", "REMOVE"))
    assert not passes(FILTERS, record(told[0], "INSERT"))


@pytest.mark.parametrize("name", ["OnStream", "OnChange"])
def test_a_reader_of_the_stream_reports_what_it_could_not_handle(name):
    """One bad record neither blocks a shard for ever nor is lost unseen."""
    properties = FUNCTIONS[name]["Events"]["Table"]["Properties"]
    assert properties["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert properties["BisectBatchOnFunctionError"] is True
    assert properties["MaximumRetryAttempts"] >= 1
    assert properties["MaximumRecordAgeInSeconds"] < 86_400, "the stream keeps a record for a day"
    assert properties["DestinationConfig"]["OnFailure"]["Type"] == "SQS"


@pytest.mark.parametrize("name", [name for name, one in RESOURCES.items() if "Change" in name or "Changes" in name])
def test_what_publishes_changes_is_there_where_a_bus_is_named(name):
    """Without a bus there is no function, no queue, no role and no alarm for it."""
    assert RESOURCES[name]["Condition"] == "SendsChanges"


@pytest.mark.parametrize("pattern", FILTERS)
def test_filters_have_the_outer_level(pattern):
    """A pattern without `dynamodb` matches nothing on AWS."""
    assert set(pattern) == {"dynamodb"}
    assert set(pattern["dynamodb"]) == {"Keys", "NewImage"}


def record(item, name="MODIFY"):
    keys = {key: item[key] for key in ("PK", "SK")}
    body = {"Keys": keys} if name == "REMOVE" else {"Keys": keys, "NewImage": item}
    return {"eventName": name, "eventSource": "aws:dynamodb", "dynamodb": body}


def woken(world, name="MODIFY"):
    return {item["SK"]["S"].split("#")[0] for item in aws.dump(world.client) if passes(FILTERS, record(item, name))}


def test_a_ripe_head_wakes_the_stream(world):
    """A window that waits wakes nobody; the call that makes it ripe does."""
    world.ingest(event("a", "e1"), rule={"eventCount": 2})
    assert woken(world) == set()
    world.ingest(event("b", "e2"))
    assert woken(world) == woken(world, "INSERT") == {"HEAD"}


def test_a_new_window_wakes_the_stream_once(world):
    """A sealed window wakes it until it is claimed; later changes of a pending one do not, nor does its plan."""
    world.ingest(event("a"), forceFlush=True)
    world.deliver()
    assert woken(world) == {"W"}
    world.deliver()
    [payload] = world.executions.running.values()
    world.tasks()["Extract"](payload)
    assert woken(world) == set()


def test_an_ended_window_wakes_the_stream(world):
    """When a window ends its successor may start; candidates, plans, verdicts and memories are no news."""
    world.ingest(event("I like tea", "e1"), forceFlush=True)
    world.settle()
    kinds = {item["SK"]["S"].split("#")[0] for item in aws.dump(world.client)}
    assert kinds >= {"HEAD", "B", "D", "W", "P", "V", "M", "N"}
    assert woken(world) == {"W"}


@pytest.mark.parametrize("state", ["DONE", "PARKED", "ERASED"])
def test_every_end_wakes_the_stream(state):
    """Done, parked and erased windows all let the next one start."""
    item = {"PK": {"S": "S#b#s"}, "SK": {"S": "W#000000000001"}, "st": {"S": state}, "att": {"N": "3"}}
    assert passes(FILTERS, record(item))


def test_a_retry_wakes_nobody():
    """A failed window is the sweep's: starting it from its record would retry without a pause."""
    item = {
        "PK": {"S": "S#b#s"},
        "SK": {"S": "W#000000000001"},
        "st": {"S": "SEALED"},
        "att": {"N": "1"},
        "new": {"N": "1"},
    }
    assert not passes(FILTERS, record(item))
    assert not passes(FILTERS, record(item, "INSERT"))


@pytest.mark.parametrize("sk", ["HEAD", "W#000000000001", "B#000000000001"])
def test_what_expires_wakes_nobody(sk):
    """Records of removals have no new image, so no pattern matches them."""
    item = {"PK": {"S": "S#b#s"}, "SK": {"S": sk}, "ripe": {"N": "1"}, "st": {"S": "DONE"}}
    assert not passes(FILTERS, record(item, "REMOVE"))
