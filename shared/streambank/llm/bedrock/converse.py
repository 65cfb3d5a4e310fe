"""Requests through Bedrock's Converse API that force the model to call one tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from streambank import tracing
from streambank.errors import GenerationError, ModelOutputTruncated, ModelRefused
from streambank.llm.bedrock.models import takes_cache_point
from streambank.llm.bedrock.request import send
from streambank.llm.dialogue.model_names import select_model
from streambank.llm.dialogue.prompts import SystemText
from streambank.llm.dialogue.tool_call import TEMPERATURES, Message, Reply, ToolCallRequest
from streambank.llm.dialogue.tool_output import Call
from streambank.llm.dialogue.tools import Tool
from streambank.llm.ports import Usage
from streambank.retry import RetryPolicy
from streambank.settings import ModelSettings

_TRUNCATED = frozenset({"max_tokens", "model_context_window_exceeded"})
_STOPPED = frozenset({"guardrail_intervened", "content_filtered"})
_NOVA = "amazon.nova-"


@dataclass(frozen=True, slots=True)
class Converse:
    """Sends requests; see `request.send` for what it raises."""

    client: Any
    models: ModelSettings
    retry_policy: RetryPolicy

    def ask(self, request: ToolCallRequest, more: Sequence[Message], temperature: float) -> Reply:
        """Return the model's reply to *request*, followed by the messages *more*."""
        messages = [_user_message(request.prompt), *more]
        parameters = self._parameters(request, messages, temperature)
        with tracing.chat("aws.bedrock", parameters["modelId"]):
            reply, retries = send(lambda: self.client.converse(**parameters), self.retry_policy)
            usage = replace(_usage(reply), retries=retries)
            tracing.used(usage.input_tokens, usage.output_tokens)
        characters = len(request.system.text) + sum(_length(message) for message in messages)
        content = list(reply.get("output", {}).get("message", {}).get("content") or [])
        return Reply(
            calls=_calls(content),
            text="\n".join(str(block["text"]) for block in content if block.get("text")),
            usage=replace(usage, calls=1, characters=characters),
            content=content,
            failure=_failure(reply),
        )

    def correction(self, reply: Reply, text: str) -> list[Message]:
        """Return the messages that repeat *reply* and answer it with *text*."""
        kept = [block for block in reply.content if "toolUse" in block or str(block.get("text", "")).strip()]
        if not kept:
            return [{"role": "assistant", "content": [{"text": "(no answer)"}]}, _user_message(text)]
        calls = [block["toolUse"] for block in kept if "toolUse" in block]
        results: list[dict[str, Any]] = [_error_result(call, text) for call in calls]
        return [{"role": "assistant", "content": kept}, {"role": "user", "content": results or [{"text": text}]}]

    def _parameters(self, request: ToolCallRequest, messages: list[Message], temperature: float) -> dict[str, Any]:
        models = self.models
        model = select_model(request.model, models.model, models.allowed)
        parameters: dict[str, Any] = {
            "modelId": model,
            "system": _system_blocks(request.system, is_cached=takes_cache_point(model)),
            "messages": messages,
            "inferenceConfig": {"maxTokens": models.max_output_tokens, "temperature": temperature},
            "toolConfig": {"tools": [_tool(request.tool)], "toolChoice": {"tool": {"name": request.tool.name}}},
        }
        if temperature == TEMPERATURES[0] and _NOVA in model:
            # Nova calls tools best with greedy decoding (Amazon Nova user guide, "Troubleshooting tool calls").
            parameters["additionalModelRequestFields"] = {"inferenceConfig": {"topK": 1}}
        if models.guardrail:
            version = models.guardrail_version
            parameters["guardrailConfig"] = {"guardrailIdentifier": models.guardrail, "guardrailVersion": version}
        return parameters


def _tool(tool: Tool) -> dict[str, Any]:
    return {
        "toolSpec": {"name": tool.name, "description": tool.description, "inputSchema": {"json": tool.schema}},
    }


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


def _user_message(text: str) -> Message:
    return {"role": "user", "content": [{"text": text}]}


def _length(message: Message) -> int:
    return sum(len(block.get("text", "")) for block in message["content"])


def _calls(content: Sequence[Mapping[str, Any]]) -> list[Call]:
    calls = [block["toolUse"] for block in content if isinstance(block.get("toolUse"), dict)]
    return [Call(str(call.get("name")), call.get("input")) for call in calls]


def _failure(reply: Mapping[str, Any]) -> GenerationError | None:
    """Return why the model was stopped before it was done, or None."""
    reason = reply.get("stopReason")
    if reason in _TRUNCATED:
        return ModelOutputTruncated("the model's reply was cut off")
    return ModelRefused(f"the model was stopped: {reason}") if reason in _STOPPED else None


def _error_result(call: Mapping[str, Any], correction: str) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": call["toolUseId"], "content": [{"text": correction}], "status": "error"}}
