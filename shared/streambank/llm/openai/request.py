"""One request to a server: sent again where that may help, or in another form where the server refuses the first."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from urllib3.exceptions import HTTPError

from streambank import telemetry
from streambank.errors import ModelNotConfigured, ModelOutputInvalid
from streambank.llm.dialogue.retries import pause_before_retry
from streambank.llm.openai.failures import Failure, Problem, of_exception, of_reply
from streambank.llm.openai.server import ReplyTooLong, ReplyTooSlow, Server
from streambank.retry import RetryPolicy

Document = Mapping[str, Any]


def send(
    server: Server,
    path: str,
    document: Callable[[], Document],
    learn: Callable[[Problem], bool],
    retry_policy: RetryPolicy,
) -> tuple[Document, int]:
    """Return the reply to *document* and the number of retries that it took.

    *learn* is given each refusal, and returns True if *document* is different now; it is sent again at once then.

    Raises:
        ModelThrottled, ModelUnavailable: every attempt failed.
        ModelTimedOut: no reply in time; not sent again, because the model may still be working.
        ModelOutputTruncated: the request is longer than the model allows.
        ModelNotConfigured: the model does not exist here, or may not be used.
        ModelRefused: a content filter stopped the request.
        ModelOutputInvalid: the reply is no JSON object, or too long.
        ModelRejected: the request is wrong for this model.
    """
    attempt = 0
    while True:
        result = _attempt(server, path, document())
        if not isinstance(result, Failure):
            return result, attempt
        if result.problem is not None and learn(result.problem):
            continue
        seconds = pause_before_retry(attempt, result.retry_after, retry_policy) if result.is_transient else None
        if seconds is None:
            telemetry.model_failed(result.error.outcome, result.error.provider_error)
            raise result.error
        retry_policy.sleep(seconds)
        attempt += 1


def _attempt(server: Server, path: str, document: Document) -> Document | Failure:
    try:
        reply = server.post(path, document)
    except (HTTPError, OSError, ReplyTooLong, ReplyTooSlow, ModelNotConfigured) as exception:
        return of_exception(exception)
    if reply.status != 200:
        return of_reply(reply)
    try:
        value = json.loads(reply.body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        return Failure(ModelOutputInvalid("the server did not return a JSON object"))
    return of_reply(reply) if value.get("error") and not (value.get("choices") or value.get("data")) else value
