"""What the recorder of AWS actions makes of a request."""

import pytest

from tests.functions.asking import needed


@pytest.mark.parametrize(
    ("service", "operation", "params", "actions"),
    [
        ("dynamodb", "GetItem", {}, {"dynamodb:GetItem"}),
        ("dynamodb", "Query", {"IndexName": "due"}, {"dynamodb:Query due"}),
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
