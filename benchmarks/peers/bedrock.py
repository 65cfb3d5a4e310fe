"""Bedrock's wire format: Converse with a forced tool, and Titan's embeddings."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.peers.askers import Answer, Body
from benchmarks.peers.mind import vector


def prompt(body: Body) -> str:
    """Return what a model would read: tools, system text, messages."""
    tools = body.get("toolConfig", {}).get("tools")
    blocks = [*body.get("system", ()), *(block for message in body["messages"] for block in message["content"])]
    told = (block["text"] if "text" in block else _json(block) for block in blocks)
    return "\n".join([*([_json(tools)] if tools else ()), *told])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def converse(answer: Answer) -> dict[str, Any]:
    """Return *answer* as Converse does."""
    called: list[dict[str, Any]] = [
        {"toolUse": {"toolUseId": "t1", "name": name, "input": given}} for name, given in answer.calls
    ]
    message: dict[str, Any] = {"role": "assistant", "content": called or [{"text": answer.text}]}
    usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
    reason = "tool_use" if called else "end_turn"
    return {"output": {"message": message}, "stopReason": reason, "usage": usage, "metrics": {"latencyMs": 1}}


def embedding(body: Body) -> dict[str, Any]:
    """Return the vector of Titan's one text."""
    return {"embedding": vector(body["inputText"], body["dimensions"]), "inputTextTokenCount": 1}
