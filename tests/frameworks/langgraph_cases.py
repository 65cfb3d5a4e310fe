"""Uses our store as the name in each line says, and prints what came of it."""

from __future__ import annotations

import json
import sys
import threading
import time
import traceback
from typing import Any
from uuid import uuid4

from streambank_client import Event, Streambank
from streambank_client.langgraph import StreambankStore, items

SPACE = ("users", "ada")
SECOND = 1 / 60


class Cases:
    def __init__(self, client: Streambank) -> None:
        self.client = client
        self.bank = client.bank()
        self.user = f"cases-{uuid4()}"

    def store(self, **settings: Any) -> StreambankStore:
        return StreambankStore(self.bank, scope={"user_id": f"cases-{uuid4()}"}, **settings)

    def expiry(self, store: StreambankStore) -> Any:
        [row] = self.bank.retrieve_memories(scope=store.scope)
        return row.memory.expire_time

    def ttl(self) -> Any:
        store, default = self.store(), self.store(ttl={"default_ttl": 1, "refresh_on_read": False})
        store.put(SPACE, "k", {"n": 1}, ttl=1)
        written = self.expiry(store)
        store.get(SPACE, "k", refresh_ttl=False)
        store.search(SPACE, refresh_ttl=False)
        unread = self.expiry(store)
        updated = store.get(SPACE, "k").updated_at
        after_get = self.expiry(store)
        store.search(SPACE)
        after_search = self.expiry(store)
        is_same_update = store.get(SPACE, "k").updated_at == updated
        store.put(SPACE, "k", {"n": 2})
        default.put(SPACE, "k", {"n": 1})
        first = self.expiry(default)
        default.get(SPACE, "k")
        short = self.store()
        short.put(SPACE, "k", {"n": 1}, ttl=SECOND)
        time.sleep(1.5)
        return {
            "read_without_refresh": unread == written,
            "refreshed": written < after_get < after_search,
            "is_same_update": is_same_update,
            "without_ttl": self.expiry(store),
            "default_is_kept": first is not None and self.expiry(default) == first,
            "expired": short.get(SPACE, "k"),
        }

    def ranking(self) -> Any:
        store = self.store(fields=["text"])
        store.put(SPACE, "secret", {"text": "Where does Ada live? Ada lives in Graz."}, index=False)
        store.put(SPACE, "home", {"text": "Ada lives in Graz."})
        store.put(SPACE, "tea", {"text": "Ada likes green tea."})
        store.put(SPACE, "bees", {"text": "Ada keeps bees."}, index=["text"])
        store.put(("users", "bob"), "home", {"text": "Bob lives in Graz."})
        items = store.search(SPACE, query="Where does Ada live? In Graz?")
        pages = [store.search(SPACE, query="Where does Ada live? In Graz?", limit=2, offset=at) for at in (0, 2)]
        return {
            "keys": [item.key for item in items],
            "scores": [item.score for item in items],
            "pages": [item.key for page in pages for item in page],
        }

    def many(self) -> Any:
        store = self.store(fields=["text"])
        for number in range(130):
            store.put(SPACE, str(number), {"text": f"This is note {number}.", "color": number % 13})
        items = store.search(SPACE, query="note", filter={"color": 5}, limit=100)
        everything = {item.key for item in store.search((), query="note", limit=1000)}
        return {
            "filtered": sorted(item.key for item in items),
            "expected": [str(number) for number in range(130) if number % 13 == 5],
            "all": len(everything),
        }

    def sizes(self) -> Any:
        store = self.store()
        large, with_fields = {"text": 'ü"' * 1_900}, {"text": "tea " * 200, "more": "x" * 6_000}
        store.put(SPACE, "large", large)
        store.put(SPACE, "large_fields", with_fields, index=["text"])
        store.put(SPACE, "k", {"n": 1})

        def refusal(value: Any) -> str:
            try:
                store.put(SPACE, "k", value)
            except (TypeError, ValueError) as error:
                return type(error).__name__
            return "stored"

        return {
            "large": store.get(SPACE, "large").value == large,
            "large_fields": store.get(SPACE, "large_fields").value == with_fields,
            "too_large": refusal({"text": "x" * 9_000}),
            "nan": refusal({"n": float("nan")}),
            "object": refusal({"n": object()}),
            "unchanged": store.get(SPACE, "k").value,
        }

    def deletion(self) -> Any:
        store = self.store()
        store.put(SPACE, "k", {"text": "a secret"})
        [memory] = [row.memory for row in self.bank.retrieve_memories(scope=store.scope)]
        store.delete(SPACE, "k")
        rows = self.bank.retrieve_memories(scope=store.scope)
        facts = [row.memory.fact for row in rows if "secret" in row.memory.fact]
        revisions = len(list(self.bank.list_revisions(memory=memory.id)))
        gone = store.get(SPACE, "k")
        store.put(SPACE, "k", {"n": 2})
        at_once = store.get(SPACE, "k").value
        store.delete(SPACE, "k")
        time.sleep(1.5)
        store.put(SPACE, "k", {"n": 3})
        later = store.get(SPACE, "k").value
        return {"gone": gone, "at_once": at_once, "revisions": revisions, "later": later, "facts": facts}

    def isolation(self) -> Any:
        scope = {"user_id": self.user}
        store = StreambankStore(self.bank, scope=scope)
        store.put(SPACE, "k", {"text": "I live in Graz."})
        event = Event.from_text("I do not live in Graz any more, I live in Wien.", event_id="e-1")
        self.bank.ingest_events(scope=scope, events=[event], force_flush=True).wait()
        rows = self.bank.retrieve_memories(scope=scope)
        conversation = [row.memory for row in rows if row.memory.id.startswith("lg-")]
        other = self.store().get(SPACE, "k")
        return {"other": other, "conversation": len(conversation), "kept": store.get(SPACE, "k").value}

    def limits(self) -> Any:
        return [items.MAX_FACT_BYTES, items.MAX_METADATA_BYTES]

    def page(self) -> Any:
        store = self.store()
        store.put(SPACE, "k", {"n": 1})
        exec(sys.argv[2], {"client": self.client, "store": store})
        return {"left": len(store.search(())), "namespaces": store.list_namespaces()}

    def threads(self) -> Any:
        store, failures = self.store(), list[str]()

        def put(number: int) -> None:
            try:
                store.put(SPACE, "k", {"n": number})
            except Exception as error:
                failures.append(repr(error))

        threads = [threading.Thread(target=put, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        value = store.get(SPACE, "k").value
        return {
            "failures": failures,
            "is_one_of_them": value in [{"n": number} for number in range(8)],
            "count": len(store.search(())),
        }


def main() -> None:
    with Streambank(sys.argv[1], token="local") as client:
        cases = Cases(client)
        for line in sys.stdin:
            try:
                answer = getattr(cases, json.loads(line))()
            except Exception:
                answer = {"error": traceback.format_exc()}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
