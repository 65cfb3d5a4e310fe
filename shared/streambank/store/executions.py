"""Executions of the state machine, which generates windows and replays them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from streambank.model.ids import execution_name, replay_execution_name
from streambank.model.replay import Replay
from streambank.model.window import Attempt

# What the machine chooses its first state by; in `loop` it counts how often the scope was written meanwhile.
_WINDOW = {"kind": "window", "loop": {"conflicts": 0}}
_REPLAY = {"kind": "replay"}


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
        return self._start(_name(attempt), {**payload, **_WINDOW})

    def error_of(self, attempt: Attempt) -> str | None:
        """Return the name of the error that ended the execution of *attempt*, "" if there is none; None if it runs."""
        return self._error_of(_name(attempt))

    def start_replay(self, replay: Replay) -> bool:
        """Start the execution of a run of *replay*; False if its name is taken, by a running or by a closed one."""
        return self._start(
            _replay_name(replay), {"bank": replay.bank, "replay": replay.id, "run": replay.run, **_REPLAY}
        )

    def is_replay_running(self, replay: Replay) -> bool:
        """Tell whether the execution of a run of *replay* is under way."""
        return self._error_of(_replay_name(replay)) is None

    def _start(self, name: str, payload: Mapping[str, Any]) -> bool:
        try:
            self._client.start_execution(stateMachineArn=self._arn, name=name, input=json.dumps(payload))
        except ClientError as error:
            if error.response["Error"]["Code"] != "ExecutionAlreadyExists":
                raise
            return False
        return True

    def _error_of(self, name: str) -> str | None:
        arn = self._arn.replace(":stateMachine:", ":execution:") + ":" + name
        try:
            execution = self._client.describe_execution(executionArn=arn)
        except ClientError as error:
            if error.response["Error"]["Code"] != "ExecutionDoesNotExist":
                raise
            return ""
        is_running = execution["status"] in ("RUNNING", "PENDING_REDRIVE")
        return None if is_running else execution.get("error", "")


def _replay_name(replay: Replay) -> str:
    return replay_execution_name(replay.bank, replay.id, replay.run)


def _name(attempt: Attempt) -> str:
    return execution_name(attempt.bank, attempt.sid, attempt.window, attempt.attempt)
