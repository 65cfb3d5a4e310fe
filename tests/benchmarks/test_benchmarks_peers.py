"""The scripted model of `benchmarks.peers`: the same facts for every tool, and right counts."""

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from benchmarks.peers import conversation, table, venvs
from benchmarks.peers.scripted_model import vector
from benchmarks.peers.server import Model, RequestCounts, running
from benchmarks.peers.setups import SETUPS, Outcome, Setup, ToolFailed, _output

ROOT = Path(__file__).resolve().parents[2]
NEW, SAME = "My former tutor is Ada Brook", "My nearest vet is Hugo Sato"
BEFORE, AFTER = "My weekend tailor is Irma Young", "My weekend tailor is Edda Varga"
SAID = [f"{NEW}. And so on.", "Thanks, that helps.", f"{SAME}. Again.", f"{AFTER}. Since May."]
KNOWN = [SAME, BEFORE]


@pytest.fixture
def model() -> Iterator[Model]:
    with running() as model:
        yield model


def ask(model: Model, path: str, body: dict) -> dict:
    reply = httpx.post(model.url + path, json=body)
    assert reply.status_code == 200
    return reply.json()


def chat(model: Model, *texts: str, **more) -> dict:
    roles = ("system", "user") if len(texts) > 1 else ("user",)
    messages = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]
    reply = ask(model, "/v1/chat/completions", {"model": "memory", "messages": messages, **more})
    return reply["choices"][0]["message"]


# ---- the four forms: what is asked with KNOWN shown, and what the answer says of (new, changed) facts


def by_mem0(model: Model, said: list[str], known: list[str]) -> tuple[list[str], list[str]]:
    shown = json.dumps([{"id": str(number), "text": text} for number, text in enumerate(known)])
    lines = "".join(f"user: {text}\nassistant: {NEW}, you say.\n" for text in said)
    prompt = f"## Existing Memories\n{shown}\n\n## New Messages\n{lines}\n\n## Current Date\n2026-01-01"
    rows = json.loads(chat(model, "## New Messages\nare read.", prompt)["content"])["memory"]
    changed = {key: row["text"] for row in rows for key in row.get("linked_memory_ids", ())}
    assert [known[int(key)] for key in changed] == [BEFORE] * len(changed)
    return [row["text"] for row in rows if "linked_memory_ids" not in row], list(changed.values())


def by_langmem(model: Model, said: list[str], known: list[str]) -> tuple[list[str], list[str]]:
    shown = "\n".join(
        f"<instance id=m{n} schema_type=\"Memory\">\n{{'content': '{t}'}}\n</instance>" for n, t in enumerate(known)
    )
    talk = "\n\n".join(f"=== Human Message ===\n\n{text}\n\n=== Ai Message ===\n\nI see." for text in said)
    tools = [{"type": "function", "function": {"name": "Memory", "parameters": {}}}]
    prompt = f"Remember.\n<session_1>\n{talk}\n</session_1>"
    message = chat(model, shown, prompt, tools=tools, tool_choice="required")
    calls = [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in message["tool_calls"]]
    patched = [given for name, given in calls if name == "PatchDoc"]
    assert [known[int(given["json_doc_id"].removeprefix("m"))] for given in patched] == [BEFORE] * len(patched)
    changed = [patch["value"] for given in patched for patch in given["patches"]]
    return [given["content"] for name, given in calls if name == "Memory"], changed


def by_streambank(model: Model, said: list[str], known: list[str]) -> tuple[list[str], list[str]]:
    turns = [{"n": number, "role": "user", "text": text} for number, text in enumerate(said, 1)]
    turns.append({"n": len(turns) + 1, "role": "model", "text": f"{NEW}. So you say."})
    turns.append({"n": len(turns) + 1, "role": "user", "text": f"{BEFORE}. Long ago.", "context": True})
    facts = converse(model, "record_facts", turns)["facts"]
    assert [said[fact["events"][0] - 1].startswith(fact["fact"]) for fact in facts] == [True] * len(facts)
    rows = [{"n": number, "fact": fact["fact"]} for number, fact in enumerate(facts, 1)]
    rows += [{"n": number, "memory": text} for number, text in enumerate(known, 1)]
    decisions = converse(model, "consolidate", rows)["decisions"]
    assert [decision["fact"] for decision in decisions] == [row["n"] for row in rows if "fact" in row]
    by_action = {
        action: [one["text"] for one in decisions if one["action"] == action] for action in ("CREATE", "UPDATE")
    }
    return by_action["CREATE"], by_action["UPDATE"]


def converse(model: Model, tool: str, rows: list[dict]) -> dict:
    body = {
        "system": [{"text": "Remember."}],
        "messages": [{"role": "user", "content": [{"text": "\n".join(map(json.dumps, rows))}]}],
        "toolConfig": {"tools": [{"toolSpec": {"name": tool}}]},
    }
    [block] = ask(model, "/model/any/converse", body)["output"]["message"]["content"]
    return block["toolUse"]["input"]


@pytest.mark.parametrize("form", [by_mem0, by_langmem, by_streambank])
def test_every_form_gets_the_same_facts(model, form):
    """What is new is added, what is corrected is changed, what is known is left, and replies tell nothing."""
    assert form(model, SAID, KNOWN) == ([NEW], [AFTER])


def test_a_transcript_alone_gets_every_fact(model):
    """Strands offers no memories: each fact is returned, also a known one."""
    lines = "\n".join(f"user: {text}\nassistant: I see." for text in SAID)
    told = json.loads(chat(model, "Remember.", f"Extract:\n\n{lines}")["content"])
    assert [one["content"] for one in told] == [NEW, SAME, AFTER]


@pytest.mark.parametrize("form", [by_mem0, by_langmem, by_streambank])
def test_the_last_word_holds(model, form):
    """A correction within the same messages leaves one fact."""
    assert form(model, [f"{BEFORE}. Yes.", f"{AFTER}. No."], []) == ([AFTER], [])


def test_a_demanded_call_is_made(model):
    """Where a call is demanded and nothing changes, the answer is a patch without patches."""
    shown = f"<instance id=m0 schema_type=\"Memory\">\n{{'content': '{SAME}'}}\n</instance>"
    asked = {"tools": [{"type": "function", "function": {"name": "Memory"}}], "tool_choice": "required"}
    [call] = chat(model, shown, f"<session_1>\n{SAME}.\n</session_1>", **asked)["tool_calls"]
    assert json.loads(call["function"]["arguments"])["patches"] == []


def test_characters_are_counted(model):
    """Prompts and replies are counted; the prefix of an earlier prompt is not fresh."""
    said = chat(model, "Remember.", "user: My")
    assert (model.counts.model_calls, model.counts.sent) == (1, len("Remember.\nuser: My"))
    assert (model.counts.fresh, model.counts.received) == (model.counts.sent, len(said["content"]))
    chat(model, "Remember.", "user: Your")
    assert model.counts.fresh == len("Remember.\nuser: My") + len("Your")
    chat(model, "Remember.", "user: My", tools=[{"type": "function"}])
    assert model.counts.sent == len("Remember.\nuser: MyRemember.\nuser: Your") + len(
        '[{"type": "function"}]\nRemember.\nuser: My'
    )


def test_both_dialects_count_alike(model):
    """The same prompt is as long in Converse as in a chat completion."""
    chat(model, "Remember.", "x", tools=[{"toolSpec": {"name": "record_facts"}}])
    sent = model.counts.sent
    tools = [{"toolSpec": {"name": "record_facts"}}]
    messages = [{"role": "user", "content": [{"text": "x"}]}]
    body = {"system": [{"text": "Remember."}], "messages": messages, "toolConfig": {"tools": tools}}
    ask(model, "/model/any/converse", body)
    assert (model.counts.sent, model.counts.fresh) == (2 * sent, sent)


def test_the_assistant_is_no_memory(model):
    """What an agent's own model replies is the conversation's, streamed, and counted apart."""
    [turn, *_] = conversation.turns()
    parts = [{"type": "text", "text": turn.text}, {"type": "text", "text": "<memory>x</memory>"}]
    body = {"model": "reply", "stream": True, "messages": [{"role": "user", "content": parts}]}
    lines = httpx.post(f"{model.url}/v1/chat/completions", json=body).text.split("\n\n")
    assert json.loads(lines[0].removeprefix("data: "))["choices"][0]["delta"]["content"] == turn.reply
    assert lines[-2] == "data: [DONE]"
    assert (model.counts.replies, model.counts.model_calls, model.counts.sent) == (1, 0, 0)


def test_both_dialects_embed_alike(model):
    """Vectors depend on the words alone, have the requested length, and are counted by calls and texts."""
    body = {"model": "embedder", "input": ["a b", "b a", "c"], "dimensions": 16}
    rows = ask(model, "/v1/embeddings", body)["data"]
    titan = ask(model, "/model/any/invoke", {"inputText": "A, b!", "dimensions": 16})["embedding"]
    assert rows[0]["embedding"] == rows[1]["embedding"] == titan != rows[2]["embedding"]
    assert (model.counts.embedding_calls, model.counts.embedded) == (2, 4)
    assert math.isclose(math.hypot(*titan), 1)
    assert len(titan) == 16


def test_what_shares_words_is_near():
    """A correction is nearest to what it corrects, so that a search finds it."""
    corrected, near, far = (vector(text, 256) for text in (AFTER, BEFORE, NEW))
    assert math.dist(corrected, near) < math.dist(corrected, far)


def test_the_conversation_is_as_documented():
    """A hundred messages state 35 facts, five corrected and five repeated, in fifty different texts of the user."""
    turns = conversation.turns()
    facts = [turn.fact for turn in turns if turn.fact]
    assert len(conversation.messages(turns)) == 100
    assert len({turn.text for turn in turns}) == 50
    assert (len(conversation.final_facts()), len(set(facts)), len(facts)) == (35, 40, 45)
    assert [len(batch) for batch in conversation.batches(10)] == [20] * 5


def test_the_table_counts_outdated_and_doubled_memories():
    """Outdated memories and doubled memories have columns of their own."""
    [first, *_] = conversation.final_facts()
    outcome = Outcome("1.0", RequestCounts(model_calls=3, sent=1_234), (first, first, BEFORE), ())
    row = [cell.strip() for cell in list(table.lines([(SETUPS[0], outcome)]))[2].strip("|").split("|")]
    assert row == ["streambank, 10 turns", "1.0", "3", "1,234", "0", "0", "0", "0", "0", "3", "1", "1"]


def test_a_driver_stays_on_this_machine():
    """A connection to another machine is refused before it is tried, and reported."""
    script = (
        "import socket\nfrom benchmarks.peers import drivers\n"
        "def drive(url, turns):\n"
        "    for address in (('192.0.2.1', 9), ('peers.invalid', 9)):\n"
        "        try:\n            socket.create_connection(address)\n"
        "        except ConnectionRefusedError:\n            pass\n"
        "    return [f'{url} {turns}']\n"
        "drivers.run(drive, 'httpx')\n"
    )
    environment = {"PYTHONPATH": str(ROOT), "PEERS_MODEL_URL": "u"}
    command = [sys.executable, "-c", script, "--turns", "3"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=30)
    result = json.loads(done.stdout.removeprefix("peers-result "))
    assert (result["memories"], result["refused"]) == (["u 3"], ["192.0.2.1", "peers.invalid"])


def test_a_tool_without_pins_is_missing():
    """A tool that cannot be installed is reported by name, not tried."""
    with pytest.raises(venvs.ToolMissing, match=r"requirements/peers/nobody\.txt"):
        venvs.python("nobody")


def test_a_driver_that_fails_is_reported(tmp_path):
    """A failed tool is reported with its last line of output, and not counted as free."""
    with pytest.raises(ToolFailed, match="drive_nobody"):
        _output(Setup("nobody", 1, "there is no driver"), Path(sys.executable), "http://127.0.0.1", str(tmp_path))
