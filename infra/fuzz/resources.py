"""The resources for the fuzzer: one of each kind to read, and one to delete."""

from typing import Any

import httpx

from streambank_local.service import LocalService

BANK = "/v1beta1/projects/demo/locations/here/reasoningEngines/default"
SCOPE = {"user_id": "123"}
KEPT = "kept"
DELETABLE = "doomed"


def create_resources(service: LocalService) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Create resources, and return the ids of those to use and of those to delete."""
    with httpx.Client(base_url=service.base_url, headers={"authorization": "Bearer local"}, timeout=60) as client:
        for name in (KEPT, DELETABLE):
            _post(client, f"/memories?memoryId={name}", {"scope": SCOPE, "fact": f"The {name} one likes tea."})
            _post(client, f"/sessions?sessionId={name}", {"userId": "123"})
        done = _post(client, "/memories:ingestEvents", _call("My name is Ada.", force=True))
        review = _review(client, service)
        pending = _post(client, "/memories:ingestEvents", _call("I like tea.", force=False))
    service.wait_until_idle()
    operation = done["name"].rpartition("/")[2]
    operations = [operation, f"{operation}-g", "create-1"]
    ids = {"memory": [KEPT], "session": [KEPT], "operation": operations, "review": [review]}
    deletable_ids = {"memory": [DELETABLE], "session": [DELETABLE], "operation": [pending["name"].rpartition("/")[2]]}
    return ids, deletable_ids


def _review(client: httpx.Client, service: LocalService) -> str:
    """Return the id of a review of a pinned memory."""
    for color in ("blue", "green"):
        _post(client, "/memories:ingestEvents", _call(f"My favorite color is {color}.", force=True))
        service.wait_until_idle()
        for memory in client.get(f"{BANK}/memories").raise_for_status().json()["memories"]:
            client.patch(f"/v1beta1/{memory['name']}", json={"pinned": True}).raise_for_status()
    [review] = client.get(f"{BANK}/memories:reviews").raise_for_status().json()["reviews"]
    return str(review["name"].rpartition("/")[2])


def _post(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    reply: dict[str, Any] = client.post(BANK + path, json=body).raise_for_status().json()
    return reply


def _call(text: str, *, force: bool) -> dict[str, Any]:
    event = {"content": {"role": "user", "parts": [{"text": text}]}}
    rule = {"generationRule": {"eventCount": 10}}
    source = {"events": [event]}
    return {"scope": SCOPE, "directContentsSource": source, "generationTriggerConfig": rule, "forceFlush": force}
