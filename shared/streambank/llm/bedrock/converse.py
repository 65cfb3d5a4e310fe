"""Requests through Bedrock's Converse API that force the model to call one tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from streambank import tracing
from streambank.errors import GenerationError, ModelOutputInvalid, ModelOutputTruncated, ModelRefused
from streambank.llm.bedrock.answers import Answer
from streambank.llm.bedrock.models import select_model, takes_cache_point
from streambank.llm.bedrock.prompts import SystemText
from streambank.llm.bedrock.request import send
from streambank.llm.bedrock.tool_output import ToolInput, find_tool_input
from streambank.llm.ports import Usage
from streambank.retry import RetryPolicy
from streambank.settings import ModelSettings

_TRUNCATED = frozenset({"max_tokens", "model_context_window_exceeded"})
_STOPPED = frozenset({"guardrail_intervened", "content_filtered"})
# The second try has another temperature: at 0 a model repeats an answer that could not be used.
_TEMPERATURES = (0.0, 0.4)
_NOVA = "amazon.nova-"

ConverseMessage = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ToolCallRequest:
    """A prompt and the tool that the model must call.

    The tool's input must have a list under one of *keys*; *model* is the bank's choice, or None.
    """

    system: SystemText
    prompt: str
    tool: Mapping[str, Any]
    keys: tuple[str, ...]
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

    def call_tool(self, request: ToolCallRequest, read: Callable[[ToolInput], Answer[T]]) -> tuple[T, Usage]:
        """Return what *read* makes of the tool's input, and the usage.

        The model is asked again if its reply has no input, or an input of which no row can be used. After that the last
        input that was found counts, whatever its rows are.

        Raises:
            ModelUnavailable, ModelNotConfigured, ModelRejected: see `request.send`.
            ModelRefused: a guardrail or a content filter stopped the model.
            ModelOutputTruncated: the reply was cut off.
            ModelOutputInvalid: neither reply has an input, or the model failed at both.
            GenerationError: each of these; its *spent* holds the usage so far.
        """
        spent = Usage()
        answer: Answer[T] | None = None
        messages = [_user_message(request.prompt)]
        try:
            for temperature in _TEMPERATURES:
                try:
                    reply, usage = self._send(request, messages, temperature)
                except ModelOutputTruncated:
                    raise
                except ModelOutputInvalid:
                    if temperature == _TEMPERATURES[-1] and answer is None:
                        raise
                    continue
                spent += usage
                content = _content(reply)
                tool_input = find_tool_input(content, request.tool_name, request.keys)
                latest = read(tool_input) if tool_input is not None else None
                answer = latest or answer
                problem = latest.problem if latest else _missing_input(request)
                if not problem:
                    break
                messages = [_user_message(request.prompt), *_correction(content, problem)]
            if answer is None:
                raise ModelOutputInvalid("the model's replies could not be used")
        except GenerationError as error:
            error.spent = spent
            raise
        return answer.value, spent

    def _send(
        self, request: ToolCallRequest, messages: list[ConverseMessage], temperature: float
    ) -> tuple[Mapping[str, Any], Usage]:
        parameters = self._parameters(request, messages, temperature)
        with tracing.chat("aws.bedrock", parameters["modelId"]):
            reply, retries = send(lambda: self.client.converse(**parameters), self.retry_policy)
            usage = replace(_usage(reply), retries=retries)
            tracing.used(usage.input_tokens, usage.output_tokens)
        characters = len(request.system.text) + sum(_length(message) for message in messages)
        return reply, replace(usage, calls=1, characters=characters)

    def _parameters(
        self, request: ToolCallRequest, messages: list[ConverseMessage], temperature: float
    ) -> dict[str, Any]:
        models = self.models
        model = select_model(request.model, models.model, models.allowed)
        parameters: dict[str, Any] = {
            "modelId": model,
            "system": _system_blocks(request.system, is_cached=takes_cache_point(model)),
            "messages": messages,
            "inferenceConfig": {"maxTokens": models.max_output_tokens, "temperature": temperature},
            "toolConfig": {"tools": [request.tool], "toolChoice": {"tool": {"name": request.tool_name}}},
        }
        if temperature == _TEMPERATURES[0] and _NOVA in model:
            # Nova calls tools best with greedy decoding (Amazon Nova user guide, "Troubleshooting tool calls").
            parameters["additionalModelRequestFields"] = {"inferenceConfig": {"topK": 1}}
        if models.guardrail:
            version = models.guardrail_version
            parameters["guardrailConfig"] = {"guardrailIdentifier": models.guardrail, "guardrailVersion": version}
        return parameters


def _system_blocks(system: SystemText, *, is_cached: bool) -> list[dict[str, Any]]:
    cache_point = [{"cachePoint": {"type": "default"}}] if is_cached else []
    return [{"text": system.stable}, *cache_point, {"text": system.variable}]


def _usage(reply: Mapping[str, Any]) -> Usage:
    """Return the tokens of *reply*; Bedrock counts those of the cache apart from its `inputTokens`."""
    tokens = reply.get("usage") or {}
    read, written = (int(tokens.get(name) or 0) for name in ("cacheReadInputTokens", "cacheWriteInputTokens"))
    return Usage(
        input_tokens=int(tokens.get("inputTokens", 0)) + read + written,
        output_tokens=int(tokens.get("outputTokens", 0)),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def _missing_input(request: ToolCallRequest) -> str:
    return f'call the tool {request.tool_name} once, with an object that has "{request.keys[0]}", a list of objects'


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
