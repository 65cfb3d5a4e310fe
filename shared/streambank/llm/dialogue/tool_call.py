"""A request that a model must answer with one tool, and the two tries that it gets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from streambank.errors import GenerationError, ModelOutputInvalid, ModelOutputTruncated
from streambank.llm.dialogue.answers import Answer
from streambank.llm.dialogue.prompts import SystemText
from streambank.llm.dialogue.tool_output import Call, ToolInput, find_tool_input
from streambank.llm.dialogue.tools import Tool
from streambank.llm.ports import Usage

# The second try has another temperature: at 0 a model repeats an answer that could not be used.
TEMPERATURES = (0.0, 0.4)

Message = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ToolCallRequest:
    """A prompt and the tool that the model must call.

    The tool's input must have a list under one of *keys*; *model* is the bank's choice, or None.
    """

    system: SystemText
    prompt: str
    tool: Tool
    keys: tuple[str, ...]
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply: its calls of tools, its text, and what it cost.

    *failure* is why the model was stopped before it was done, or None. *content* is the reply in the provider's form.
    """

    calls: Sequence[Call]
    text: str
    usage: Usage
    content: Any
    failure: GenerationError | None = None


class ChatModel(Protocol):
    """Sends requests to a model."""

    def ask(self, request: ToolCallRequest, more: Sequence[Message], temperature: float) -> Reply:
        """Return the reply to *request*, followed by the messages *more*."""

    def correction(self, reply: Reply, text: str) -> list[Message]:
        """Return the messages that repeat *reply* and answer it with *text*."""


def call_tool(model: ChatModel, request: ToolCallRequest, read: Callable[[ToolInput], Answer[T]]) -> tuple[T, Usage]:
    """Return what *read* makes of the tool's input, and the usage.

    The model is asked again if its reply has no input, or an input of which no row can be used. After that the last
    input that was found counts, whatever its rows are.

    Raises:
        ModelUnavailable, ModelNotConfigured, ModelRejected: the request failed.
        ModelRefused: a guardrail or a content filter stopped the model.
        ModelOutputTruncated: the reply was cut off.
        ModelOutputInvalid: neither reply has an input, or the model failed at both.
        GenerationError: each of these; its *spent* holds the usage so far.
    """
    spent = Usage()
    answer: Answer[T] | None = None
    more: list[Message] = []
    try:
        for temperature in TEMPERATURES:
            try:
                reply = model.ask(request, more, temperature)
            except ModelOutputTruncated:
                raise
            except ModelOutputInvalid:
                if temperature == TEMPERATURES[-1] and answer is None:
                    raise
                continue
            spent += reply.usage
            if reply.failure is not None:
                raise reply.failure
            latest, problem = _read(reply, request, read)
            answer = latest or answer
            if not problem:
                break
            more = model.correction(reply, _correction(problem))
        if answer is None:
            raise ModelOutputInvalid("the model's replies could not be used")
    except GenerationError as error:
        error.spent = spent
        raise
    return answer.value, spent


def _read(
    reply: Reply, request: ToolCallRequest, read: Callable[[ToolInput], Answer[T]]
) -> tuple[Answer[T] | None, str]:
    """Return the answer in a reply, or None, and what is wrong with it, which is empty if nothing is."""
    tool_input = find_tool_input(reply.calls, reply.text, request.tool.name, request.keys)
    if tool_input is None:
        return None, _missing_input(request)
    answer = read(tool_input)
    return answer, answer.problem


def _missing_input(request: ToolCallRequest) -> str:
    return f'call the tool {request.tool.name} once, with an object that has "{request.keys[0]}", a list of objects'


def _correction(problem: str) -> str:
    return f"That answer cannot be used: {problem}. Call the tool again, complete and correct."
