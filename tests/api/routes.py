"""The routes over moto's table, called as API Gateway calls them, without HTTP."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from streambank.api import app
from streambank.model.principal import operator
from streambank.retry import RetryPolicy
from streambank.settings import Settings
from streambank.store.table import Table
from streambank.wire import http
from streambank.wiring.api import ApiWiring
from streambank.wiring.deployment import Deployment
from streambank.wiring.jobs import JobWiring
from streambank.wiring.stores import Stores
from tests import aws

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PARENT = "/v1beta1/reasoningEngines"
# What a reply may have, below the 6 MB of Lambda.
MOST_BYTES = 5_000_000


class Clock(Protocol):
    def now(self) -> datetime: ...


class StillClock:
    """Stands still."""

    def now(self) -> datetime:
        return NOW


class Api:
    """One deployment; the largest reply so far is `largest` bytes as it is sent."""

    def __init__(self, client: Any, clock: Clock | None = None) -> None:
        retry_policy = RetryPolicy(lambda _seconds: None, lambda: 0.5)
        self.table = Table(client, aws.TABLE, retry_policy)
        self.stores = Stores.over(self.table)
        settings = Settings(aws.TABLE, timedelta(days=90), timedelta(days=90))
        deployment = Deployment(settings, clock or StillClock(), retry_policy, self.table)
        jobs = JobWiring(deployment, self.stores)
        self.wiring = ApiWiring(deployment, self.stores, jobs, lambda _event: operator("test"))
        self.largest = 0

    def respond(self, method: str, path: str, body: Any = None, **query: str) -> http.Response:
        """Return the response of a route, as the function returns it to Lambda."""
        event = {
            "rawPath": PARENT + path,
            "requestContext": {"http": {"method": method}},
            "headers": {},
            "queryStringParameters": query,
            "body": None if body is None else json.dumps(body),
        }
        response = app.respond(event, self.wiring)
        assert response["statusCode"] == 200, response
        # A runtime of Lambda may escape every character that is not ASCII.
        self.largest = max(self.largest, len(json.dumps(response)))
        return response

    def call(self, method: str, path: str, body: Any = None, **query: str) -> dict[str, Any]:
        """Return the document of a reply, which is below the limit."""
        response = self.respond(method, path, body, **query)
        assert len(json.dumps(response)) < MOST_BYTES
        return document(response)

    def pages(self, path: str, field: str, **query: str) -> list[list[dict[str, Any]]]:
        """Return the pages of a list, to its end."""
        pages, token = [], ""
        while True:
            reply = self.call("GET", path, **query, **({"pageToken": token} if token else {}))
            pages.append(reply[field])
            token = reply.get("nextPageToken", "")
            if not token:
                return pages


def document(response: http.Response) -> dict[str, Any]:
    """Return the document of a response."""
    body = response["body"]
    text = base64.b64decode(body).decode() if response.get("isBase64Encoded") else body
    value: dict[str, Any] = json.loads(text)
    return value
