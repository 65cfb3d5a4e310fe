"""OpenAI's wire format: chat completions, streamed or not, and embeddings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from benchmarks.peers.scripted_model import vector
from benchmarks.peers.tool_replies import Body, Reply, texts


def prompt(body: Body) -> str:
    """Return the whole prompt: tools and the reply's schema, then messages and their tool calls."""
    forms = [body.get("tools"), (body.get("response_format") or {}).get("json_schema")]
    parts = (part for message in body["messages"] for part in (texts(message), *_call_texts(message)))
    return "\n".join([*(json.dumps(form, ensure_ascii=False) for form in forms if form), *parts])


def _call_texts(message: Body) -> Iterator[str]:
    for call in message.get("tool_calls") or ():
        yield call["function"]["name"] + call["function"]["arguments"]


def completion(body: Body, reply: Reply) -> dict[str, Any]:
    """Return *reply* as a chat completion."""
    choice = {"index": 0, "message": _message(reply), "finish_reason": _reason(reply)}
    return _envelope(body, "chat.completion", choice) | {"usage": _usage()}


def chunks(body: Body, reply: Reply) -> Iterator[dict[str, Any]]:
    """Yield *reply* as the chunks of a streamed chat completion."""
    message = _message(reply)
    calls = [{"index": index, **call} for index, call in enumerate(message.get("tool_calls", ()))]
    delta = message | ({"tool_calls": calls} if calls else {})
    yield _envelope(body, "chat.completion.chunk", {"index": 0, "delta": delta, "finish_reason": None})
    yield _envelope(body, "chat.completion.chunk", {"index": 0, "delta": {}, "finish_reason": _reason(reply)})
    if (body.get("stream_options") or {}).get("include_usage"):
        yield _envelope(body, "chat.completion.chunk") | {"usage": _usage()}


def embeddings(body: Body) -> dict[str, Any]:
    """Return the vectors of `input`, in 1,536 dimensions unless the request sets another number."""
    dimensions = body.get("dimensions", 1536)
    rows = [
        {"object": "embedding", "index": index, "embedding": vector(text, dimensions)}
        for index, text in enumerate(inputs(body))
    ]
    return {"object": "list", "model": body["model"], "data": rows, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def inputs(body: Body) -> list[str]:
    """Return the texts to embed."""
    texts = body["input"]
    return [texts] if isinstance(texts, str) else list(texts)


def _message(reply: Reply) -> dict[str, Any]:
    calls = [_call(number, name, arguments) for number, (name, arguments) in enumerate(reply.calls)]
    return {"role": "assistant", "content": reply.text or None} | ({"tool_calls": calls} if calls else {})


def _call(number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"id": f"call_{number}", "type": "function", "function": function}


def _reason(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _envelope(body: Body, kind: str, *choices: dict[str, Any]) -> dict[str, Any]:
    return {"id": "scripted", "object": kind, "created": 0, "model": body["model"], "choices": list(choices)}


def _usage() -> dict[str, int]:
    return {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
