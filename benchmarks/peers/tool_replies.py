"""The scripted model's replies, in the form that each tool expects."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.peers.conversation import turns
from benchmarks.peers.scripted_model import FactUpdate, Kind, find_fact, stated_facts, updates

Body = Mapping[str, Any]
# The model of the assistant's own replies, which are no cost of a memory.
ASSISTANT_MODEL = "reply"
_INSTANCE = re.compile(r"<instance id=(\S+) [^>]*>(.*?)</instance>", re.DOTALL)
_SESSION = re.compile(r"<session_.*?>(.*)</session_", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reply:
    """A text, or tool calls with names and arguments."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()


def chat_reply(body: Body) -> Reply:
    """Return the reply to a chat completion of mem0, langmem or Strands, or the assistant's own reply."""
    text = "\n".join(texts(message) for message in body["messages"])
    if body["model"] == ASSISTANT_MODEL:
        return Reply(_assistant_reply(texts(body["messages"][-1])))
    if body.get("tools"):
        return _for_langmem(text, must_call=body.get("tool_choice") not in (None, "auto"))
    if "## New Messages" in text:
        return _for_mem0(text)
    return Reply(json.dumps([{"content": fact} for fact in stated_facts(text)]))


def texts(message: Body) -> str:
    """Return the text of a chat message, whose content is a string or a list of parts."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def _assistant_reply(text: str) -> str:
    return next(turn.reply for turn in turns() if turn.text in text)


def _for_mem0(text: str) -> Reply:
    """Return additions of the unknown facts: mem0 requests additions only."""
    memories = {row["id"]: row["text"] for row in json.loads(_section(text, "Existing Memories"))}
    changes = updates(stated_facts(_section(text, "New Messages")), memories)
    numbers = itertools.count()
    rows = [_mem0_row(next(numbers), one) for one in changes if one.kind is not Kind.KNOWN]
    return Reply(json.dumps({"memory": rows}))


def _mem0_row(number: int, update: FactUpdate) -> dict[str, Any]:
    row: dict[str, Any] = {"id": str(number), "text": update.fact, "attributed_to": "user"}
    return row | ({"linked_memory_ids": [update.memory]} if update.memory else {})


def _section(text: str, title: str) -> str:
    """Return the text below the last heading *title*; the instructions before it have the same heading."""
    return text.rpartition(f"## {title}\n")[2].partition("\n## ")[0].strip()


def _for_langmem(text: str, *, must_call: bool) -> Reply:
    """Return a call for each new fact, a patch for each changed one, or an empty patch if a call is required."""
    memories = {key: find_fact(content) for key, content in _INSTANCE.findall(text)}
    session = _SESSION.search(text)
    changes = updates(stated_facts(session[1] if session else ""), memories)
    calls = tuple(_langmem_call(one) for one in changes if one.kind is not Kind.KNOWN)
    if must_call and not calls and memories:
        return Reply(calls=(_patch(next(iter(memories)), []),))
    return Reply(calls=calls) if calls else Reply("Nothing to remember.")


def _langmem_call(update: FactUpdate) -> tuple[str, dict[str, Any]]:
    if update.memory is None:
        return "Memory", {"content": update.fact}
    return _patch(update.memory, [{"op": "replace", "path": "/content", "value": update.fact}])


def _patch(memory: str, patches: list[dict[str, str]]) -> tuple[str, dict[str, Any]]:
    plan = "Replace the content." if patches else "Nothing changes."
    return "PatchDoc", {"json_doc_id": memory, "planned_edits": plan, "patches": patches}


def converse_reply(body: Body) -> Reply:
    """Return the call of the tool that Streambank requires."""
    name = body["toolConfig"]["tools"][0]["toolSpec"]["name"]
    lines = body["messages"][0]["content"][0]["text"].splitlines()
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    arguments = {"facts": _recorded(rows)} if name == "record_facts" else {"decisions": _decided(rows)}
    return Reply(calls=((name, arguments),))


def _recorded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    own = [row for row in rows if row.get("role") == "user" and not row.get("context")]
    memories = {str(row["n"]): row["memory"] for row in rows if "memory" in row}
    events = {fact: row["n"] for row in own for fact in stated_facts(row["text"])}
    latest = stated_facts("\n".join(f"{fact}." for fact in events))
    return [_fact(one, events[one.fact]) for one in updates(latest, memories)]


def _fact(update: FactUpdate, event: int) -> dict[str, Any]:
    fact = {"fact": update.fact, "events": [event], "topic": "KEY_CONVERSATION_DETAILS"}
    if update.memory is None:
        return fact | {"change": "NEW"}
    about = fact | {"memories": [int(update.memory)]}
    return about | ({"change": "REPEATS"} if update.kind is Kind.KNOWN else {"change": "CHANGES", "text": update.fact})


def _decided(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    memories = {str(row["n"]): row["memory"] for row in rows if "memory" in row}
    facts = {row["fact"]: row["n"] for row in rows if "fact" in row}
    return [_decision(facts[one.fact], one) for one in updates(facts, memories)]


def _decision(number: int, update: FactUpdate) -> dict[str, Any]:
    if update.memory is None:
        return {"fact": number, "action": "CREATE", "text": update.fact}
    about = {"fact": number, "memory": int(update.memory)}
    return about | ({"action": "NONE"} if update.kind is Kind.KNOWN else {"action": "UPDATE", "text": update.fact})
