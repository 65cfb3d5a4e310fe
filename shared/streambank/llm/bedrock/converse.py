"""A question to a model through Bedrock's Converse, answered by one forced call of a tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from streambank import tracing
from streambank.errors import GenerationError, ModelOutputInvalid, ModelOutputTruncated, ModelRefused
from streambank.llm.bedrock.tool_output import Unusable, tool_input
from streambank.llm.bedrock.models import Models, chosen
from streambank.llm.bedrock.request import Sender
from streambank.llm.ports import Usage

_TRUNCATED = frozenset({"max_tokens", "model_context_window_exceeded"})
_STOPPED = frozenset({"guardrail_intervened", "content_filtered"})

ConverseMessage = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked: *key* is what the tool's input must hold, *model* the bank's choice or None."""

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
    """Asks; an answer that cannot be used is asked again once, with what is wrong with it."""

    client: Any
    models: Models
    sender: Sender

    def ask(self, question: Question, read: Callable[[dict[str, Any]], T]) -> tuple[T, Usage]:
        """Return what *read* makes of the tool's input, and what it cost.

        Raises:
            ModelUnavailable, ModelNotConfigured, ModelRefused: see `Sender.send`; *spent* tells the cost so far.
            ModelOutputTruncated: there was no room for the answer.
            ModelOutputInvalid: the second answer could not be used either.
        """
        spent = Usage()
        messages = [_user(question.prompt)]
        try:
            for problem in (None, "last"):
                reply, usage = self._send(question, messages)
                spent += usage
                content = _content(reply)
                try:
                    return read(tool_input(content, question.tool_name, question.key)), spent
                except Unusable as unusable:
                    if problem:
                        raise ModelOutputInvalid("the model's answers could not be used") from None
                    messages = [_user(question.prompt), *_told(content, str(unusable))]
        except GenerationError as error:
            error.spent = spent
            raise
        raise AssertionError("unreachable")  # pragma: no cover

    def _send(self, question: Question, messages: list[ConverseMessage]) -> tuple[Mapping[str, Any], Usage]:
        request = self._request(question, messages)
        with tracing.chat("aws.bedrock", request["modelId"]):
            reply, repeated = self.sender.send(lambda: self.client.converse(**request))
            tokens = reply.get("usage") or {}
            tracing.used(int(tokens.get("inputTokens", 0)), int(tokens.get("outputTokens", 0)))
        sent = len(question.system) + sum(_length(message) for message in messages)
        usage = Usage(1, sent, int(tokens.get("inputTokens", 0)), int(tokens.get("outputTokens", 0)), repeated)
        return reply, usage

    def _request(self, question: Question, messages: list[ConverseMessage]) -> dict[str, Any]:
        models = self.models
        request: dict[str, Any] = {
            "modelId": chosen(question.model, models.model),
            "system": [{"text": question.system}],
            "messages": messages,
            "inferenceConfig": {"maxTokens": models.max_output_tokens, "temperature": 0.0},
            "toolConfig": {"tools": [question.tool], "toolChoice": {"tool": {"name": question.tool_name}}},
        }
        if models.guardrail:
            version = models.guardrail_version
            request["guardrailConfig"] = {"guardrailIdentifier": models.guardrail, "guardrailVersion": version}
        return request


def _user(text: str) -> ConverseMessage:
    return {"role": "user", "content": [{"text": text}]}


def _length(message: ConverseMessage) -> int:
    return sum(len(block.get("text", "")) for block in message["content"])


def _content(reply: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the blocks of *reply*, unless the model was stopped before it came to an end."""
    reason = reply.get("stopReason")
    if reason in _TRUNCATED:
        raise ModelOutputTruncated("there was no room for the model's answer")
    if reason in _STOPPED:
        raise ModelRefused(f"the model was stopped: {reason}")
    return list(reply.get("output", {}).get("message", {}).get("content") or [])


def _told(content: list[dict[str, Any]], problem: str) -> list[ConverseMessage]:
    """Return the turns that show a model its answer and what is wrong with it."""
    correction = f"That answer cannot be used: {problem}. Call the tool again, complete and correct."
    kept = [block for block in content if "toolUse" in block or str(block.get("text", "")).strip()]
    if not kept:
        return [{"role": "assistant", "content": [{"text": "(no answer)"}]}, _user(correction)]
    calls = [block["toolUse"] for block in kept if "toolUse" in block]
    results: list[dict[str, Any]] = [_failed(call, correction) for call in calls]
    return [{"role": "assistant", "content": kept}, {"role": "user", "content": results or [{"text": correction}]}]


def _failed(call: Mapping[str, Any], correction: str) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": call["toolUseId"], "content": [{"text": correction}], "status": "error"}}
