"""A graph of LangGraph whose store is a bank: a node keeps what a user says, and a later thread searches it.

python docs/examples/langgraph_store.py
"""

from __future__ import annotations

import os
import sys
from typing import TypedDict
from uuid import uuid4

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from streambank_client import Streambank
from streambank_client.errors import StreambankError
from streambank_client.langgraph import StreambankStore


class State(TypedDict, total=False):
    """What a thread of the graph keeps."""

    text: str
    answer: str


def answer(state: State, runtime: Runtime[dict[str, str]]) -> State:
    """Answer a question with the nearest note, and keep every other line as a note."""
    notes = ("notes", runtime.context["user_id"])
    store, text = runtime.store, state["text"]
    if store is None:
        raise RuntimeError("the graph has no store")
    if not text.endswith("?"):
        store.put(notes, str(uuid4()), {"text": text})
        return {"answer": "Noted."}
    nearest = store.search(notes, query=text, limit=1)
    return {"answer": f"You said: {nearest[0].value['text']}" if nearest else "I do not know."}


def main() -> None:
    url = os.environ.get("STREAMBANK_URL", "http://127.0.0.1:8080")
    user = str(uuid4())
    with Streambank(url, token=os.environ.get("STREAMBANK_TOKEN", "local")) as client:
        store = StreambankStore(client.bank(), scope={"app": "notes"}, fields=["text"])
        builder = StateGraph(State, context_schema=dict)
        builder.add_node("answer", answer)
        builder.add_edge(START, "answer")
        builder.add_edge("answer", END)
        graph = builder.compile(store=store)
        for line in ("I live in Graz.", "I like green tea.", "Where do I live?"):
            state = graph.invoke({"text": line}, context={"user_id": user})
            print(f"{line} -> {state['answer']}")


if __name__ == "__main__":
    try:
        main()
    except StreambankError as error:
        sys.exit(f"Streambank: {error} (`make run` starts it on this machine; STREAMBANK_URL names another service)")
