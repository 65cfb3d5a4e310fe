"""Bedrock's wire format: Converse with a forced tool, and Titan's embeddings."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.peers.scripted_model import vector
from benchmarks.peers.tool_replies import Body, Reply


def prompt(body: Body) -> str:
    """Return the whole prompt: tools, system text, messages."""
    tools = body.get("toolConfig", {}).get("tools")
    blocks = [*body.get("system", ()), *(block for message in body["messages"] for block in message["content"])]
    texts = (block["text"] if "text" in block else _json(block) for block in blocks)
    return "\n".join([*([_json(tools)] if tools else ()), *texts])


def stable(body: Body) -> str:
    """Return the part of the prompt that is the same for every request: tools, and the first text of the system."""
    tools = body.get("toolConfig", {}).get("tools")
    texts = [block["text"] for block in body.get("system", ()) if "text" in block][:1]
    return "\n".join([*([_json(tools)] if tools else ()), *texts])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def converse(reply: Reply) -> dict[str, Any]:
    """Return *reply* as Converse does."""
    blocks: list[dict[str, Any]] = [
        {"toolUse": {"toolUseId": "t1", "name": name, "input": arguments}} for name, arguments in reply.calls
    ]
    message: dict[str, Any] = {"role": "assistant", "content": blocks or [{"text": reply.text}]}
    usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
    reason = "tool_use" if blocks else "end_turn"
    return {"output": {"message": message}, "stopReason": reason, "usage": usage, "metrics": {"latencyMs": 1}}


def embedding(body: Body) -> dict[str, Any]:
    """Return the vector of Titan's one text."""
    return {"embedding": vector(body["inputText"], body["dimensions"]), "inputTextTokenCount": 1}
