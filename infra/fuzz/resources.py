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
        pending = _post(client, "/memories:ingestEvents", _call("I like tea.", force=False))
    service.wait_until_idle()
    operation = done["name"].rpartition("/")[2]
    ids = {"memory": [KEPT], "session": [KEPT], "operation": [operation, f"{operation}-g", "create-1"]}
    deletable_ids = {"memory": [DELETABLE], "session": [DELETABLE], "operation": [pending["name"].rpartition("/")[2]]}
    return ids, deletable_ids


def _post(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    reply: dict[str, Any] = client.post(BANK + path, json=body).raise_for_status().json()
    return reply


def _call(text: str, *, force: bool) -> dict[str, Any]:
    event = {"content": {"role": "user", "parts": [{"text": text}]}}
    rule = {"generationRule": {"eventCount": 10}}
    source = {"events": [event]}
    return {"scope": SCOPE, "directContentsSource": source, "generationTriggerConfig": rule, "forceFlush": force}
