"""One call of every method of the client, for the tests that go through all of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

SCOPE = {"user_id": "1"}
NAME = "reasoningEngines/default"

# By method: the arguments of each call that shows what the method can reach.
BANK: dict[str, list[dict[str, Any]]] = {
    "get": [{}],
    "update": [{"display_name": "a bank"}],
    "delete": [{"force": True}],
    "get_usage": [{}],
    "erase_scope": [{"scope": {"user_id": "1"}, "user_id": "1", "conversation_ids": ["c"], "dry_run": True}],
    "move_scope": [{"scope": {"user_id": "1"}, "target_scope": {"user_id": "2"}, "dry_run": True}],
    "erase": [{"force": True, "dry_run": True}],
    "export": [{"scope": {"user_id": "1"}, "user_id": "1", "conversation_ids": ["c"]}],
    "import_from": [{"source": "default/export-1/manifest.json"}],
    "reindex": [{}],
    "apply_content_policy": [{}],
    "get_consent": [{"scope": SCOPE}],
    "update_consent": [{"scope": SCOPE, "learning": "DISABLED"}],
    "replay": [{"windows": 5, "scope": SCOPE, "model": "m"}],
    "ingest_events": [{"scope": SCOPE}],
    "generate_memories": [{"scope": SCOPE, "direct_memories": ["Likes tea."]}],
    "retrieve_memories": [{"scope": SCOPE, "query": "tea"}],
    "retrieve_all_memories": [{"scope": SCOPE}],
    "retrieve_profiles": [{"scope": SCOPE}],
    "create_memory": [{"scope": SCOPE, "fact": "Likes tea."}],
    "get_memory": [{"memory": "m"}],
    "list_memories": [{}],
    "update_memory": [{"memory": "m", "fact": "Likes tea."}],
    "delete_memory": [{"memory": "m"}],
    "rollback_memory": [{"memory": "m", "target_revision_id": "1"}],
    "batch_create_memories": [{"requests": [{"memory": {"scope": {"user_id": "1"}, "fact": "Likes tea."}}]}],
    "batch_update_memories": [{"requests": [{"memory": {"name": "m", "fact": "Likes tea."}}]}],
    "batch_delete_memories": [{"names": ["m"]}],
    "purge_memories": [{"filter": 'fact="Likes tea."'}],
    "list_revisions": [{"memory": "m"}],
    "get_revision": [{"memory": "m", "revision": "1"}],
    "list_reviews": [{}],
    "accept_review": [{"review": "r"}],
    "reject_review": [{"review": "r"}],
    "create_session": [{"user_id": "1"}],
    "get_session": [{"session": "s"}],
    "list_sessions": [{}],
    "update_session": [{"session": "s", "display_name": "a session"}],
    "delete_session": [{"session": "s"}],
    "append_event": [
        {"session": "s", "author": "user", "invocation_id": "1", "timestamp": datetime(2026, 1, 1, tzinfo=UTC)}
    ],
    "list_session_events": [{"session": "s"}],
    "load_chat_history": [{"conversation_id": "c"}],
    "store_chat_history": [{"conversation_id": "c", "messages": []}],
    "append_chat_history": [{"conversation_id": "c", "messages": [{}]}],
    "delete_chat_history": [{"conversation_id": "c"}],
    "changes": [{}],
    "list_changes": [{"page_token": "t"}],
    "list_streams": [{}],
    "find_events": [{"scope": SCOPE, "stream_id": "s", "event_ids": ["e1"]}],
    "redrive_operations": [{}],
    "get_operation": [
        {"operation": "o-1", "view": "FULL"},
        {"operation": f"{NAME}/operations/create"},
        {"operation": f"{NAME}/operations/update"},
        {"operation": f"{NAME}/memories/m/operations/create-1"},
        {"operation": f"{NAME}/sessions/s/operations/create"},
        {"operation": f"{NAME}/sessions/s/operations/delete"},
    ],
    "list_jobs": [{}],
    "list_operations": [{"filter": 'state="PARKED"'}],
    "wait_operation": [{"operation": "o-1"}],
    "redrive_operation": [{"operation": "o-1"}],
    "replay_operation": [{"operation": "o-1", "model": "m"}],
    "cancel_operation": [{"operation": "o-1"}],
    "delete_operation": [{"operation": "o-1"}],
}
CLIENT: dict[str, list[dict[str, Any]]] = {
    "create_bank": [{"display_name": "a bank"}],
    "list_banks": [{}],
}
