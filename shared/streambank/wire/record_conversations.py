"""Sessions, their events and chat histories as the lines of an export have them."""

from __future__ import annotations

from streambank.model.chat import ChatHistory
from streambank.model.record import SessionEventRecord
from streambank.model.session import Session, SessionEvent
from streambank.wire.record_findings import findings_document
from streambank.wire.record_times import time_text


def session(one: Session) -> dict[str, object]:
    return {
        "sessionId": one.id,
        "userId": one.user_id,
        "createTime": time_text(one.created),
        "updateTime": time_text(one.updated),
        "first": one.first,
        "last": one.last,
        "displayName": one.display_name,
        "sessionState": one.state or None,
        "labels": one.labels or None,
        "expireTime": time_text(one.expires),
    }


def session_event(record: SessionEventRecord) -> dict[str, object]:
    event: SessionEvent = record.event
    return {
        "sessionId": record.session_id,
        "first": record.first,
        "number": event.number,
        "author": event.author,
        "invocationId": event.invocation_id,
        "timestamp": event.timestamp.isoformat(),
        "content": event.content,
        "actions": event.actions,
        "eventMetadata": event.metadata,
        "errorCode": event.error_code,
        "errorMessage": event.error_message,
        "rawEvent": event.raw,
        "contentPolicy": findings_document(event.findings),
    }


def chat(history: ChatHistory) -> dict[str, object]:
    return {
        "conversationId": history.conversation_id,
        "format": history.format or None,
        "updateTime": time_text(history.updated),
        "expireTime": time_text(history.expires),
        "messages": list(history.messages),
    }
