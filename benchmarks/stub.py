"""The ingest handler over a DynamoDB with fixed replies: every stream is new, every write succeeds."""

from __future__ import annotations

import importlib
import json
import os
from dataclasses import dataclass
from typing import Any

from botocore.awsrequest import AWSResponse

from benchmarks import prose
from benchmarks.environment import FUNCTION_ENVIRONMENT


@dataclass
class Context:
    function_name: str = "ingest"
    memory_limit_in_mb: int = 1024
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:ingest"
    aws_request_id: str = "bench"


class _Raw:
    """The body of a reply, as botocore reads it."""

    def stream(self, **_: Any) -> Any:
        yield b'{"Responses": {"table": []}, "UnprocessedKeys": {}}'


def _reply(request: Any, **_: Any) -> AWSResponse:
    return AWSResponse(request.url, 200, {"content-type": "application/x-amz-json-1.0"}, _Raw())


def ingest_handler(size: int) -> tuple[Any, dict[str, Any], Context]:
    """Return the handler, an event with *size* events of 1 KB, and a context."""
    os.environ.update(FUNCTION_ENVIRONMENT)
    module = importlib.import_module("functions.ingest")
    client = module.WIRING.deployment.table._client
    client.meta.events.register("before-send.dynamodb", _reply, unique_id="bench")
    texts = prose.pieces(1024)
    events = [{"content": {"role": "user", "parts": [{"text": next(texts)}]}, "event_id": f"e{n}"} for n in range(size)]
    body = {"streamId": "s", "scope": {"user_id": "1"}, "directContentsSource": {"events": events}}
    path = "/v1beta1/projects/p/locations/l/reasoningEngines/default/memories:ingestEvents"
    return module.handler, {"rawPath": path, "headers": {}, "body": json.dumps(body)}, Context()
