"""The pictures of docs/pictures.md; a test compares their texts with the page's Mermaid."""

from __future__ import annotations

from infra.pictures.drawing import Arrow, Box, Group, Picture

PICTURES = {
    "event-to-memory": Picture(
        "The way of an event to a memory",
        (
            Box("Your agent", 0, 0),
            Box("Stream|drops duplicates", 1, 0),
            Box("Window|sealed once", 2, 0),
            Box("Candidates|facts with their events", 2, 1),
            Box("Plan|a verdict for each", 1, 1),
            Box("Memories|of one scope", 0, 1),
        ),
        (
            Arrow(0, 1, "ingest"),
            Arrow(1, 2, "a rule is met"),
            Arrow(2, 3, "extract"),
            Arrow(3, 4, "consolidate"),
            Arrow(4, 5, "commit"),
            Arrow(5, 0, "retrieve"),
        ),
    ),
    "triggers": Picture(
        "A stream with the rule: five events, or five minutes without one",
        (
            Box("minute 0", 0, 0),
            Box("minute 2", 1, 0),
            Box("minute 3", 2, 0),
            Box("minute 8", 3, 0),
            Box("event 1|opens window 1", 0, 1),
            Box("event 5|EVENT_COUNT seals it", 1, 1),
            Box("event 6|opens window 2", 2, 1),
            Box("5 minutes without one|IDLE_DURATION seals it", 3, 1),
        ),
        (Arrow(0, 1), Arrow(1, 2), Arrow(2, 3), Arrow(0, 4), Arrow(1, 5), Arrow(2, 6), Arrow(3, 7)),
    ),
    "nesting": Picture(
        "A bank has scopes; a scope has streams and memories; a stream has windows",
        (
            Box("stream chat-1|windows 1, 2, 3", 0.1, 0.3),
            Box("stream chat-2|window 1", 1.1, 0.3),
            Box("memories of Ada", 0.6, 1.1),
            Box("stream chat-1|windows 1, 2", 2.1, 0.3),
            Box("memories of Bob", 2.1, 1.1),
        ),
        (Arrow(0, 2), Arrow(1, 2), Arrow(3, 4)),
        (
            Group("bank support", 0.1, 0.3, 2.1, 1.1, 58),
            Group("scope user_id=ada", 0.1, 0.3, 1.1, 1.1),
            Group("scope user_id=bob", 2.1, 0.3, 2.1, 1.1),
        ),
    ),
    "aws": Picture(
        "The parts of a deployment in AWS",
        (
            Box("Your application", 0, 1),
            Box("API Gateway|HTTP API", 1, 1),
            Box("Lambda|Ingest, Api", 2, 1),
            Box("DynamoDB|one table", 3, 1),
            Box("Lambda|OnStream", 3, 2),
            Box("Step Functions|Generation", 2, 2),
            Box("Lambda|Extract, Consolidate,|Commit, Fail", 1, 2),
            Box("Bedrock|models", 0, 2),
            Box("EventBridge Scheduler|each minute", 2, 0),
            Box("Lambda|OnSchedule", 3, 0),
        ),
        (
            Arrow(0, 1, "HTTPS"),
            Arrow(1, 2),
            Arrow(2, 3),
            Arrow(3, 4, "table's stream"),
            Arrow(4, 5, "starts"),
            Arrow(5, 6),
            Arrow(6, 7),
            Arrow(8, 9),
            Arrow(9, 3, "finds due work"),
        ),
    ),
    "operation": Picture(
        "The states of an operation",
        (
            Box("BUFFERING", 0, 1),
            Box("SEALED", 1, 1),
            Box("GENERATING", 2, 1),
            Box("DONE", 3, 1),
            Box("RETRYING", 2, 0),
            Box("BUDGET_PAUSED", 2, 2),
            Box("PARKED", 3, 0),
            Box("ERASED", 0, 0),
        ),
        (
            Arrow(0, 1, "rule met"),
            Arrow(1, 2, "starts"),
            Arrow(2, 3, "commits"),
            Arrow(2, 4, "a try fails"),
            Arrow(4, 6, "5 tries failed"),
            Arrow(2, 5, "budget used up"),
            Arrow(0, 7, "scope erased"),
        ),
    ),
}
