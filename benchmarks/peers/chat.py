"""OpenAI's wire format: chat completions, streamed or not, and embeddings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from benchmarks.peers.askers import Answer, Body, texts
from benchmarks.peers.mind import vector


def prompt(body: Body) -> str:
    """Return what a model would read: tools and the answer's form, then messages and the calls in them."""
    forms = [body.get("tools"), (body.get("response_format") or {}).get("json_schema")]
    told = (part for message in body["messages"] for part in (texts(message), *_called(message)))
    return "\n".join([*(json.dumps(form, ensure_ascii=False) for form in forms if form), *told])


def _called(message: Body) -> Iterator[str]:
    for call in message.get("tool_calls") or ():
        yield call["function"]["name"] + call["function"]["arguments"]


def completion(body: Body, answer: Answer) -> dict[str, Any]:
    """Return *answer* as a chat completion."""
    choice = {"index": 0, "message": _message(answer), "finish_reason": _reason(answer)}
    return _reply(body, "chat.completion", choice) | {"usage": _usage()}


def chunks(body: Body, answer: Answer) -> Iterator[dict[str, Any]]:
    """Yield *answer* as the chunks of a streamed chat completion."""
    message = _message(answer)
    calls = [{"index": index, **call} for index, call in enumerate(message.get("tool_calls", ()))]
    delta = message | ({"tool_calls": calls} if calls else {})
    yield _reply(body, "chat.completion.chunk", {"index": 0, "delta": delta, "finish_reason": None})
    yield _reply(body, "chat.completion.chunk", {"index": 0, "delta": {}, "finish_reason": _reason(answer)})
    if (body.get("stream_options") or {}).get("include_usage"):
        yield _reply(body, "chat.completion.chunk") | {"usage": _usage()}


def embeddings(body: Body) -> dict[str, Any]:
    """Return the vectors of `input`, in 1,536 dimensions unless others are asked for."""
    dimensions = body.get("dimensions", 1536)
    rows = [
        {"object": "embedding", "index": index, "embedding": vector(text, dimensions)}
        for index, text in enumerate(inputs(body))
    ]
    return {"object": "list", "model": body["model"], "data": rows, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def inputs(body: Body) -> list[str]:
    """Return the texts that are to be embedded."""
    given = body["input"]
    return [given] if isinstance(given, str) else list(given)


def _message(answer: Answer) -> dict[str, Any]:
    calls = [_call(number, name, given) for number, (name, given) in enumerate(answer.calls)]
    return {"role": "assistant", "content": answer.text or None} | ({"tool_calls": calls} if calls else {})


def _call(number: int, name: str, given: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(given, ensure_ascii=False)}
    return {"id": f"call_{number}", "type": "function", "function": function}


def _reason(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _reply(body: Body, kind: str, *choices: dict[str, Any]) -> dict[str, Any]:
    return {"id": "scripted", "object": kind, "created": 0, "model": body["model"], "choices": list(choices)}


def _usage() -> dict[str, int]:
    return {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
