"""Applying a content policy, and the consent of scopes."""

from __future__ import annotations

import json
from collections.abc import Mapping

from streambank_client import types
from streambank_client.calls.replies import OperationSnapshot, read_object, read_operation
from streambank_client.calls.requests import body_fields, query_parameters
from streambank_client.calls.resources import ResourcePath
from streambank_client.http.call import Call


def apply_content_policy(resource: ResourcePath, /) -> Call[OperationSnapshot[types.AppliedPolicy]]:
    """Apply the bank's content policy to what it holds already: events, memories, sessions and chat histories.

    Call it after a change of the policy. The operation ends a quarter of an hour after the change at the earliest.

    Raises:
        FailedPrecondition: the bank has no content policy.
    """
    return Call(
        method="POST",
        path=f"{resource.path}:applyContentPolicy",
        parse=read_operation(types.AppliedPolicy),
        repeatable=True,
    )


def get_consent(resource: ResourcePath, /, *, scope: Mapping[str, str]) -> Call[types.Consent]:
    """Return whether anything is learnt about a scope."""
    query = query_parameters(scope=json.dumps(dict(scope)))
    return Call(
        method="GET", path=f"{resource.path}/consent", parse=read_object(types.Consent), repeatable=True, query=query
    )


def update_consent(resource: ResourcePath, /, *, scope: Mapping[str, str], learning: str) -> Call[types.Consent]:
    """Set whether anything is learnt about a scope: *learning* is ENABLED or DISABLED.

    While it is DISABLED events are accepted and dropped, and what waits for a generation gets none.
    """
    body = body_fields(scope=dict(scope), learning=learning)
    return Call(
        method="PATCH", path=f"{resource.path}/consent", parse=read_object(types.Consent), repeatable=True, body=body
    )
