"""What the recorder of AWS actions makes of a request."""

import pytest

from tests.functions.asking import named, needed


@pytest.mark.parametrize(
    ("service", "operation", "params", "actions"),
    [
        ("dynamodb", "GetItem", {}, {"dynamodb:GetItem"}),
        ("dynamodb", "Query", {"IndexName": "due"}, {"dynamodb:Query due"}),
        ("dynamodb", "SearchVectors", {"IndexName": "vectors"}, {"dynamodb:SearchVectors vectors"}),
        (
            "dynamodb",
            "TransactWriteItems",
            {"TransactItems": [{"Put": {}}, {"ConditionCheck": {}}]},
            {"dynamodb:PutItem", "dynamodb:ConditionCheckItem"},
        ),
        ("bedrock-runtime", "Converse", {}, {"bedrock:InvokeModel"}),
        ("bedrock-runtime", "Converse", {"guardrailConfig": {}}, {"bedrock:InvokeModel", "bedrock:ApplyGuardrail"}),
        ("stepfunctions", "StartExecution", {}, {"states:StartExecution"}),
    ],
)
def test_a_request_takes_the_actions_that_iam_knows(service, operation, params, actions):
    """A transaction takes what its parts take, an index is named, and services have IAM's names."""
    assert set(needed(service, operation, params)) == actions


def test_a_search_names_no_partition():
    """IAM judges a search of vectors by its index alone, and a query by the partition of its condition."""
    assert list(named("SearchVectors", {"IndexName": "vectors"})) == []
    query = {"KeyConditionExpression": "#PK = :pk", "ExpressionAttributeValues": {":pk": {"S": "S#1"}}}
    assert list(named("Query", query)) == [("dynamodb:Query", frozenset({"S#*"}))]
