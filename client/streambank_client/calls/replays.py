"""Replays: windows judged again with another configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from streambank_client import types
from streambank_client.calls.operations import operation_path
from streambank_client.calls.replies import OperationSnapshot, read_operation
from streambank_client.calls.requests import body_fields
from streambank_client.calls.resources import ResourcePath
from streambank_client.http.call import Call

Customization = types.CustomizationConfig | Mapping[str, Any]
Topics = Sequence[types.MemoryTopic | Mapping[str, Any]]
Examples = Sequence[types.GenerateMemoriesExample | Mapping[str, Any]]


def replay_operation(
    resource: ResourcePath,
    /,
    *,
    operation: str,
    model: str | None = None,
    prompt_customization: Customization | None = None,
    memory_topics: Topics | None = None,
    generate_memories_examples: Examples | None = None,
) -> Call[OperationSnapshot[types.ReplayResponse]]:
    """Judge a window again, with what is given in place of the bank's configuration; no memory changes.

    Wait for the operation: a model answers in seconds. The same call again joins a replay that is under way.

    Raises:
        FailedPrecondition: the window was not generated, or its events have expired.
    """
    return Call(
        method="POST",
        path=f"{operation_path(resource, operation).path}:replay",
        parse=read_operation(types.ReplayResponse),
        repeatable=True,
        body=body_fields(
            model=model,
            prompt_customization=prompt_customization,
            memory_topics=memory_topics,
            generate_memories_examples=generate_memories_examples,
        ),
    )


def replay(
    resource: ResourcePath,
    /,
    *,
    windows: int,
    scope: Mapping[str, str] | None = None,
    model: str | None = None,
    prompt_customization: Customization | None = None,
    memory_topics: Topics | None = None,
    generate_memories_examples: Examples | None = None,
) -> Call[OperationSnapshot[types.ReplayResponse]]:
    """Judge the newest *windows* (1 to 1,000) of the bank again, or those of a scope, as `replay_operation` does.

    Wait for the operation: it takes as long as the model needs for all windows. Its response has the `summary`.
    """
    return Call(
        method="POST",
        path=f"{resource.path}:replay",
        parse=read_operation(types.ReplayResponse),
        repeatable=True,
        body=body_fields(
            windows=windows,
            scope=scope,
            model=model,
            prompt_customization=prompt_customization,
            memory_topics=memory_topics,
            generate_memories_examples=generate_memories_examples,
        ),
    )
