"""Chat completions that force the model to call one tool, or to answer with JSON where the server has no tools."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streambank import tracing
from streambank.errors import GenerationError, ModelOutputTruncated, ModelRefused
from streambank.llm.dialogue.model_names import select_model
from streambank.llm.dialogue.tool_call import Message, Reply, ToolCallRequest
from streambank.llm.dialogue.tool_output import Call, find_tool_input
from streambank.llm.dialogue.tools import Tool
from streambank.llm.openai.dialect import Dialect, Dialects, Form
from streambank.llm.openai.failures import Problem
from streambank.llm.openai.request import Document, send
from streambank.llm.openai.server import Server
from streambank.llm.ports import Usage
from streambank.retry import RetryPolicy
from streambank.rules.tokens import estimate_tokens
from streambank.settings import ModelSettings

_THOUGHTS = re.compile(r"<think>.*?(</think>|\Z)|\A.*</think>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ChatCompletions:
    """Sends requests; see `request.send` for what it raises."""

    server: Server
    models: ModelSettings
    retry_policy: RetryPolicy
    dialects: Dialects

    def ask(self, request: ToolCallRequest, more: Sequence[Message], temperature: float) -> Reply:
        """Return the model's reply to *request*, followed by the messages *more*."""
        model = select_model(request.model, self.models.model, self.models.allowed)
        exchange = _Exchange(self, model, request, more, temperature)
        with tracing.chat("openai", model):
            document, retries = send(
                self.server, "/chat/completions", exchange.document, exchange.learn, self.retry_policy
            )
            reply = _reply(document, exchange.characters, retries)
            tracing.used(reply.usage.input_tokens, reply.usage.output_tokens)
        if exchange.dialect.form < Form.JSON_SCHEMA and reply.failure is None:
            has_answer = find_tool_input(reply.calls, reply.text, request.tool.name, request.keys) is not None
            self.dialects.note_reply(model, has_answer=has_answer or bool(reply.calls))
        return reply

    def correction(self, reply: Reply, text: str) -> list[Message]:
        """Return the messages that repeat *reply* and answer it with *text*.

        The call is repeated as text: a server may refuse a broken call, or a call where it has no tools.
        """
        return [{"role": "assistant", "content": reply.content}, {"role": "user", "content": text}]


class _Exchange:
    """A request in the dialect of its model, which the server's refusals may change."""

    def __init__(
        self, chat: ChatCompletions, model: str, request: ToolCallRequest, more: Sequence[Message], temperature: float
    ) -> None:
        self._chat = chat
        self._model = model
        self._request = request
        self._messages = [{"role": "user", "content": request.prompt}, *more]
        self._temperature = temperature
        self.dialect = chat.dialects.of(model, is_second_try=bool(more))

    @property
    def characters(self) -> int:
        """The characters that are sent, without the tool."""
        return len(self._request.system.text) + sum(len(message["content"]) for message in self._messages)

    def learn(self, problem: Problem) -> bool:
        """Change the dialect where *problem* is a refusal of a part of it; return whether it is different now."""
        is_changed = self._chat.dialects.learn(self._model, problem, self.dialect)
        self.dialect = self._chat.dialects.of(self._model)
        return is_changed

    def document(self) -> Document:
        """Return the body of the request."""
        dialect, tool = self.dialect, self._request.tool
        system = self._request.system.text
        if dialect.form >= Form.JSON_SCHEMA:
            system = f"{system}\n\n{_without_tools(tool)}"
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": "system", "content": system}, *self._messages],
            "stream": False,
            **_form(dialect, tool),
        }
        if dialect.has_temperature:
            body["temperature"] = self._temperature
        if dialect.length_field:
            body[dialect.length_field] = self._chat.models.max_output_tokens
        return body


def _form(dialect: Dialect, tool: Tool) -> dict[str, Any]:
    """Return the fields that force the answer into its form."""
    if dialect.form is Form.TEXT:
        return {}
    if dialect.form is Form.JSON_SCHEMA:
        return {"response_format": {"type": "json_schema", "json_schema": {"name": tool.name, "schema": tool.schema}}}
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    named = {"type": "function", "function": {"name": tool.name}}
    choice = named if dialect.form is Form.NAMED_TOOL else "required"
    return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}


def _without_tools(tool: Tool) -> str:
    schema = json.dumps(tool.schema, ensure_ascii=False)
    return f"There is no tool {tool.name} to call. Answer with one JSON object of this schema, nothing else:\n{schema}"


def _reply(document: Document, characters: int, retries: int) -> Reply:
    choices = document.get("choices")
    choice = _object(choices[0]) if isinstance(choices, list) and choices else {}
    message = _object(choice.get("message"))
    calls, written = _calls(message), _text(message.get("content"))
    content = written.strip() or "\n".join(_as_text(call.input) for call in calls) or "(no answer)"
    return Reply(
        calls=calls,
        text=_THOUGHTS.sub("", written),
        usage=_usage(_object(document.get("usage")), characters, content, retries),
        content=content,
        failure=_failure(choice, message),
    )


def _calls(message: Mapping[str, Any]) -> list[Call]:
    calls = message.get("tool_calls")
    functions = [_object(_object(call).get("function")) for call in calls] if isinstance(calls, list) else []
    functions.append(_object(message.get("function_call")))  # the older form of one call
    return [Call(str(one.get("name")), one.get("arguments")) for one in functions if one]


def _text(content: Any) -> str:
    """Return the text of a message's content, which may be a list of parts."""
    parts = content if isinstance(content, list) else [content]
    texts = (_object(part).get("text") if isinstance(part, dict) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))


def _failure(choice: Mapping[str, Any], message: Mapping[str, Any]) -> GenerationError | None:
    """Return why the model was stopped before it was done, or None."""
    reason = choice.get("finish_reason")
    if reason == "length":
        return ModelOutputTruncated("the model's reply was cut off")
    is_refused = reason == "content_filter" or bool(message.get("refusal"))
    return ModelRefused("the model was stopped: content_filter") if is_refused else None


def _usage(tokens: Mapping[str, Any], characters: int, content: str, retries: int) -> Usage:
    """Return the tokens of a reply, estimated from above where the server does not count them.

    The tokens of a prompt include those that its cache gave.
    """
    prompt, completion = _count(tokens.get("prompt_tokens")), _count(tokens.get("completion_tokens"))
    cached = _count(_object(tokens.get("prompt_tokens_details")).get("cached_tokens")) or 0
    return Usage(
        calls=1,
        characters=characters,
        input_tokens=characters if prompt is None else prompt,
        output_tokens=estimate_tokens(content) if completion is None else completion,
        retries=retries,
        cache_read_tokens=min(cached, prompt or 0),
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
