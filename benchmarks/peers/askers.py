"""Who asks the scripted model for what, and the answer in the form that each of them reads."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.peers.conversation import turns
from benchmarks.peers.mind import Kind, Meaning, meanings, mentioned, stated

Body = Mapping[str, Any]
# The model that speaks for an assistant, where a tool has one of its own; it is no memory's cost.
REPLYING = "reply"
_INSTANCE = re.compile(r"<instance id=(\S+) [^>]*>(.*?)</instance>", re.DOTALL)
_SESSION = re.compile(r"<session_.*?>(.*)</session_", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Answer:
    """A text or calls of tools: names and arguments."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()


def chat_answer(body: Body) -> Answer:
    """Return the answer to a chat completion: of mem0, of langmem, of Strands, or the assistant's own reply."""
    text = "\n".join(texts(message) for message in body["messages"])
    if body["model"] == REPLYING:
        return Answer(_reply(texts(body["messages"][-1])))
    if body.get("tools"):
        return _for_langmem(text, must_call=body.get("tool_choice") not in (None, "auto"))
    if "## New Messages" in text:
        return _for_mem0(text)
    return Answer(json.dumps([{"content": fact} for fact in stated(text)]))


def texts(message: Body) -> str:
    """Return the text of a chat message, whose content is a string or a list of parts."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def _reply(said: str) -> str:
    return next(turn.reply for turn in turns() if turn.said in said)


def _for_mem0(text: str) -> Answer:
    """Return facts that are not known as additions, which are all that mem0 asks for."""
    known = {row["id"]: row["text"] for row in json.loads(_section(text, "Existing Memories"))}
    found = meanings(stated(_section(text, "New Messages")), known)
    numbers = itertools.count()
    rows = [_mem0_row(next(numbers), one) for one in found if one.kind is not Kind.KNOWN]
    return Answer(json.dumps({"memory": rows}))


def _mem0_row(number: int, meaning: Meaning) -> dict[str, Any]:
    row: dict[str, Any] = {"id": str(number), "text": meaning.fact, "attributed_to": "user"}
    return row | ({"linked_memory_ids": [meaning.memory]} if meaning.memory else {})


def _section(text: str, title: str) -> str:
    """Return what stands below the last heading *title*: the instructions before it have one of that name too."""
    return text.rpartition(f"## {title}\n")[2].partition("\n## ")[0].strip()


def _for_langmem(text: str, *, must_call: bool) -> Answer:
    """Return a call for each new fact, a patch for each changed one, an empty patch where a call is demanded."""
    known = {key: mentioned(shown) for key, shown in _INSTANCE.findall(text)}
    session = _SESSION.search(text)
    found = meanings(stated(session[1] if session else ""), known)
    calls = tuple(_langmem_call(one) for one in found if one.kind is not Kind.KNOWN)
    if must_call and not calls and known:
        return Answer(calls=(_patch(next(iter(known)), []),))
    return Answer(calls=calls) if calls else Answer("Nothing to remember.")


def _langmem_call(meaning: Meaning) -> tuple[str, dict[str, Any]]:
    if meaning.memory is None:
        return "Memory", {"content": meaning.fact}
    return _patch(meaning.memory, [{"op": "replace", "path": "/content", "value": meaning.fact}])


def _patch(memory: str, patches: list[dict[str, str]]) -> tuple[str, dict[str, Any]]:
    plan = "Replace the content." if patches else "Nothing changes."
    return "PatchDoc", {"json_doc_id": memory, "planned_edits": plan, "patches": patches}


def converse_answer(body: Body) -> Answer:
    """Return the call of the tool that Streambank forces."""
    name = body["toolConfig"]["tools"][0]["toolSpec"]["name"]
    lines = body["messages"][0]["content"][0]["text"].splitlines()
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    given = {"facts": _recorded(rows)} if name == "record_facts" else {"decisions": _decided(rows)}
    return Answer(calls=((name, given),))


def _recorded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    own = [row for row in rows if row["role"] == "user" and not row.get("context")]
    said = {fact: row["n"] for row in own for fact in stated(row["text"])}
    last_words = stated("\n".join(f"{fact}." for fact in said))
    return [{"fact": one, "events": [said[one]], "topic": "KEY_CONVERSATION_DETAILS"} for one in last_words]


def _decided(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    known = {str(row["n"]): row["memory"] for row in rows if "memory" in row}
    facts = {row["fact"]: row["n"] for row in rows if "fact" in row}
    return [_decision(facts[one.fact], one) for one in meanings(facts, known)]


def _decision(number: int, meaning: Meaning) -> dict[str, Any]:
    if meaning.memory is None:
        return {"fact": number, "action": "CREATE", "text": meaning.fact}
    about = {"fact": number, "memory": int(meaning.memory)}
    return about | ({"action": "NONE"} if meaning.kind is Kind.KNOWN else {"action": "UPDATE", "text": meaning.fact})
