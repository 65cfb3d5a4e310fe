"""Executions of the generation's state machine."""

from __future__ import annotations

import json
from typing import Any

from botocore.exceptions import ClientError

from streambank.model.ids import execution_name
from streambank.model.window import Attempt


class Executions:
    """Starts executions and reads their state; *client* is boto3's Step Functions client."""

    def __init__(self, client: Any, state_machine_arn: str) -> None:
        self._client = client
        self._arn = state_machine_arn

    def start(self, attempt: Attempt) -> bool:
        """Start the execution of *attempt*; False if its name is taken, by a running or by a closed one.

        A name stays taken for 90 days after its execution closed (Step Functions, StartExecution).
        """
        payload = {"bank": attempt.bank, "sid": attempt.sid, "win": attempt.window, "att": attempt.attempt}
        try:
            self._client.start_execution(stateMachineArn=self._arn, name=_name(attempt), input=json.dumps(payload))
        except ClientError as error:
            if error.response["Error"]["Code"] != "ExecutionAlreadyExists":
                raise
            return False
        return True

    def error_of(self, attempt: Attempt) -> str | None:
        """Return the name of the error that ended the execution of *attempt*, "" if there is none; None if it runs."""
        arn = self._arn.replace(":stateMachine:", ":execution:") + ":" + _name(attempt)
        try:
            execution = self._client.describe_execution(executionArn=arn)
        except ClientError as error:
            if error.response["Error"]["Code"] != "ExecutionDoesNotExist":
                raise
            return ""
        is_running = execution["status"] in ("RUNNING", "PENDING_REDRIVE")
        return None if is_running else execution.get("error", "")


def _name(attempt: Attempt) -> str:
    return execution_name(attempt.bank, attempt.sid, attempt.window, attempt.attempt)
