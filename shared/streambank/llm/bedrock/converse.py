"""Requests through Bedrock's Converse API that force the model to call one tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from streambank import tracing
from streambank.errors import GenerationError, ModelOutputInvalid, ModelOutputTruncated, ModelRefused
from streambank.llm.bedrock.models import select_model
from streambank.llm.bedrock.request import send
from streambank.llm.bedrock.tool_output import UnusableReply, find_tool_input
from streambank.llm.ports import Usage
from streambank.retry import RetryPolicy
from streambank.settings import ModelSettings

_TRUNCATED = frozenset({"max_tokens", "model_context_window_exceeded"})
_STOPPED = frozenset({"guardrail_intervened", "content_filtered"})

ConverseMessage = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ToolCallRequest:
    """A prompt and the tool that the model must call.

    *key* names the list that the tool's input must contain; *model* is the bank's choice, or None.
    """

    system: str
    prompt: str
    tool: Mapping[str, Any]
    key: str
    model: str | None = None

    @property
    def tool_name(self) -> str:
        return str(self.tool["toolSpec"]["name"])


@dataclass(frozen=True, slots=True)
class Converse:
    """Sends requests; after an unusable reply it asks the model once more, and says what is wrong."""

    client: Any
    models: ModelSettings
    retry_policy: RetryPolicy

    def call_tool(self, request: ToolCallRequest, parse: Callable[[dict[str, Any]], T]) -> tuple[T, Usage]:
        """Return the tool's input as *parse* reads it, and the usage; *parse* may raise UnusableReply.

        Raises:
            ModelUnavailable, ModelNotConfigured, ModelRejected: see `request.send`.
            ModelRefused: a guardrail or a content filter stopped the model.
            ModelOutputTruncated: the reply was cut off.
            ModelOutputInvalid: the second reply was unusable too.
            GenerationError: each of these; its *spent* holds the usage so far.
        """
        spent = Usage()
        messages = [_user_message(request.prompt)]
        try:
            for is_last in (False, True):
                reply, usage = self._send(request, messages)
                spent += usage
                content = _content(reply)
                try:
                    return parse(find_tool_input(content, request.tool_name, request.key)), spent
                except UnusableReply as unusable:
                    if is_last:
                        raise ModelOutputInvalid("the model's replies could not be used") from None
                    messages = [_user_message(request.prompt), *_correction(content, str(unusable))]
        except GenerationError as error:
            error.spent = spent
            raise
        raise AssertionError("unreachable")  # pragma: no cover

    def _send(self, request: ToolCallRequest, messages: list[ConverseMessage]) -> tuple[Mapping[str, Any], Usage]:
        parameters = self._parameters(request, messages)
        with tracing.chat("aws.bedrock", parameters["modelId"]):
            reply, retries = send(lambda: self.client.converse(**parameters), self.retry_policy)
            tokens = reply.get("usage") or {}
            tracing.used(int(tokens.get("inputTokens", 0)), int(tokens.get("outputTokens", 0)))
        characters = len(request.system) + sum(_length(message) for message in messages)
        usage = Usage(1, characters, int(tokens.get("inputTokens", 0)), int(tokens.get("outputTokens", 0)), retries)
        return reply, usage

    def _parameters(self, request: ToolCallRequest, messages: list[ConverseMessage]) -> dict[str, Any]:
        models = self.models
        parameters: dict[str, Any] = {
            "modelId": select_model(request.model, models.model, models.allowed),
            "system": [{"text": request.system}],
            "messages": messages,
            "inferenceConfig": {"maxTokens": models.max_output_tokens, "temperature": 0.0},
            "toolConfig": {"tools": [request.tool], "toolChoice": {"tool": {"name": request.tool_name}}},
        }
        if models.guardrail:
            version = models.guardrail_version
            parameters["guardrailConfig"] = {"guardrailIdentifier": models.guardrail, "guardrailVersion": version}
        return parameters


def _user_message(text: str) -> ConverseMessage:
    return {"role": "user", "content": [{"text": text}]}


def _length(message: ConverseMessage) -> int:
    return sum(len(block.get("text", "")) for block in message["content"])


def _content(reply: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the content blocks of *reply*. Raises if the model was stopped before it was done."""
    reason = reply.get("stopReason")
    if reason in _TRUNCATED:
        raise ModelOutputTruncated("the model's reply was cut off")
    if reason in _STOPPED:
        raise ModelRefused(f"the model was stopped: {reason}")
    return list(reply.get("output", {}).get("message", {}).get("content") or [])


def _correction(content: list[dict[str, Any]], problem: str) -> list[ConverseMessage]:
    """Return the messages that repeat the model's reply and say what is wrong with it."""
    correction = f"That answer cannot be used: {problem}. Call the tool again, complete and correct."
    kept = [block for block in content if "toolUse" in block or str(block.get("text", "")).strip()]
    if not kept:
        return [{"role": "assistant", "content": [{"text": "(no answer)"}]}, _user_message(correction)]
    calls = [block["toolUse"] for block in kept if "toolUse" in block]
    results: list[dict[str, Any]] = [_error_result(call, correction) for call in calls]
    return [{"role": "assistant", "content": kept}, {"role": "user", "content": results or [{"text": correction}]}]


def _error_result(call: Mapping[str, Any], correction: str) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": call["toolUseId"], "content": [{"text": correction}], "status": "error"}}
