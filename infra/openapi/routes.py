"""The table of routes: what each is asked, what it answers, and how else it may refuse."""

from infra.openapi import (
    answered,
    answered_sessions,
    asked,
    asked_sessions,
    chats,
    parameters,
)
from infra.openapi.extensions import EXTENSIONS
from infra.openapi.route import BANK, BANKS, CHAT, MEMORIES, MEMORY, OPERATION, OPERATIONS, SESSION, SESSIONS, Route
from streambank.wire import requests

_KEY = (parameters.IDEMPOTENCY_KEY,)

_BANKS = (
    Route("createBank", "post", BANKS, "Makes a bank.", answered.BankOperation, requests.BankRequest),
    Route("listBanks", "get", BANKS, "Lists banks.", answered.Banks, parameters=parameters.PAGE),
    Route("getBank", "get", BANK, "Shows a bank.", answered.Bank),
    Route(
        "updateBank",
        "patch",
        BANK,
        "Changes a bank; an empty configuration changes nothing of it.",
        answered.BankOperation,
        requests.BankRequest,
        (parameters.BANK_MASK,),
    ),
    Route(
        "deleteBank",
        "delete",
        BANK,
        "Deletes a bank, with all that it holds if forced.",
        answered.EmptyOperation,
        requests.DeleteBankRequest,
        (parameters.FORCE,),
        needs_body=False,
    ),
    Route("getBankCreation", "get", f"{OPERATIONS}/create", "Looks at the making of a bank.", answered.BankOperation),
    Route("getBankUpdate", "get", f"{OPERATIONS}/update", "Looks at a change of a bank.", answered.BankOperation),
)

_EVENTS = (
    Route(
        "ingestEvents",
        "post",
        f"{MEMORIES}:ingestEvents",
        "Takes events in; ids make it safe to send them again.",
        answered.WindowOperation,
        asked.IngestEventsRequest,
        _KEY,
    ),
    Route(
        "ingestEventsOfBank",
        "post",
        f"{BANK}:ingestEvents",
        "The same under its other name.",
        answered.WindowOperation,
        asked.IngestEventsRequest,
        _KEY,
    ),
)

_MEMORIES = (
    Route(
        "generateMemories",
        "post",
        f"{MEMORIES}:generate",
        "Makes memories of events, of a session, or of facts.",
        answered.WindowOperation,
        asked.GenerateMemoriesRequest,
        _KEY,
    ),
    Route(
        "createMemory",
        "post",
        MEMORIES,
        "Makes a memory.",
        answered.MemoryOperation,
        asked.CreateMemoryRequest,
        (parameters.MEMORY_ID, *_KEY),
        may_exist_already=True,
    ),
    Route(
        "listMemories",
        "get",
        MEMORIES,
        "Lists memories, newest first.",
        answered.Memories,
        parameters=(parameters.MEMORY_FILTER, parameters.TIME_ORDER, *parameters.PAGE),
    ),
    Route("getMemory", "get", MEMORY, "Shows a memory.", answered.Memory),
    Route(
        "updateMemory",
        "patch",
        MEMORY,
        "Changes a memory.",
        answered.MemoryOperation,
        asked.UpdateMemoryRequest,
        (parameters.MEMORY_MASK,),
    ),
    Route("deleteMemory", "delete", MEMORY, "Deletes a memory; a rollback undoes it.", answered.EmptyOperation),
    Route(
        "rollbackMemory",
        "post",
        f"{MEMORY}:rollback",
        "Brings back what a revision said.",
        answered.MemoryOperation,
        asked.RollbackMemoryRequest,
    ),
    Route(
        "purgeMemories",
        "post",
        f"{MEMORIES}:purge",
        "Deletes or counts the memories that match.",
        answered.PurgeOperation,
        asked.PurgeMemoriesRequest,
    ),
    Route(
        "retrieveMemories",
        "post",
        f"{MEMORIES}:retrieve",
        "Retrieves the memories of a scope.",
        answered.RetrievedMemories,
        asked.RetrieveRequest,
    ),
    Route(
        "retrieveProfiles",
        "post",
        f"{MEMORIES}:retrieveProfiles",
        "Retrieves the profiles of a scope, by schema.",
        answered.Profiles,
        asked.RetrieveProfilesRequest,
    ),
    Route(
        "listRevisions",
        "get",
        f"{MEMORY}/revisions",
        "Lists the revisions of a memory, newest first.",
        answered.MemoryRevisions,
        parameters=(parameters.REVISION_FILTER, *parameters.PAGE),
    ),
    Route("getRevision", "get", f"{MEMORY}/revisions/{{revision}}", "Shows a revision.", answered.MemoryRevision),
    Route(
        "getMemoryOperation",
        "get",
        f"{MEMORY}/operations/{{operation}}",
        "Looks at a change of a memory, or at a window.",
        answered.Operation,
    ),
)

_SESSIONS = (
    Route(
        "createSession",
        "post",
        SESSIONS,
        "Makes a session.",
        answered_sessions.SessionOperation,
        asked_sessions.CreateSessionRequest,
        (parameters.NEW_SESSION_ID,),
        may_exist_already=True,
    ),
    Route(
        "listSessions",
        "get",
        SESSIONS,
        "Lists sessions.",
        answered_sessions.Sessions,
        parameters=(parameters.SESSION_FILTER, parameters.TIME_ORDER, *parameters.PAGE),
    ),
    Route("getSession", "get", SESSION, "Shows a session.", answered_sessions.Session),
    Route(
        "updateSession",
        "patch",
        SESSION,
        "Changes a session.",
        answered_sessions.Session,
        asked_sessions.UpdateSessionRequest,
        (parameters.SESSION_MASK,),
    ),
    Route("deleteSession", "delete", SESSION, "Deletes a session and its events.", answered.EmptyOperation),
    Route(
        "getSessionCreation",
        "get",
        f"{SESSION}/operations/create",
        "Looks at the making of a session.",
        answered_sessions.SessionOperation,
    ),
    Route(
        "getSessionDeletion",
        "get",
        f"{SESSION}/operations/delete",
        "Looks at the deletion of a session.",
        answered.EmptyOperation,
    ),
    Route(
        "appendEvent",
        "post",
        f"{SESSION}:appendEvent",
        "Appends an event to a session.",
        answered.Empty,
        asked_sessions.AppendEventRequest,
    ),
    Route(
        "listSessionEvents",
        "get",
        f"{SESSION}/events",
        "Lists the events of a session.",
        answered_sessions.SessionEvents,
        parameters=(parameters.EVENT_FILTER, parameters.EVENT_ORDER, *parameters.PAGE),
    ),
)

_CHATS = (
    Route("getChatHistory", "get", CHAT, "Shows a chat.", chats.ChatHistory, None, (parameters.CONVERSATION_ID,)),
    Route(
        "storeChatHistory",
        "put",
        CHAT,
        "Replaces a chat, all of it or nothing.",
        chats.StoredChatHistory,
        chats.StoreChatHistoryRequest,
        parameters.CHAT,
    ),
    Route("deleteChatHistory", "delete", CHAT, "Deletes a chat.", answered.Empty, None, parameters.CHAT),
)

_OPERATIONS = (
    Route(
        "listOperations",
        "get",
        OPERATIONS,
        "Lists operations.",
        answered.Operations,
        parameters=(parameters.STATE_FILTER, *parameters.PAGE),
    ),
    Route("getOperation", "get", OPERATION, "Looks at an operation.", answered.WindowOperation),
    Route("deleteOperation", "delete", OPERATION, "Takes note that nobody asks for it any more.", answered.Empty),
    Route("cancelOperation", "post", f"{OPERATION}:cancel", "Is refused: events would be lost.", answered.Empty),
    Route(
        "waitForOperation",
        "post",
        f"{OPERATION}:wait",
        "Answers when the operation is done, or when the time is up.",
        answered.WindowOperation,
        parameters=(parameters.TIMEOUT,),
    ),
    Route(
        "redriveOperation",
        "post",
        f"{OPERATION}:redrive",
        "Tries a parked window again.",
        answered.WindowOperation,
    ),
)

ROUTES = (*EXTENSIONS, *_BANKS, *_EVENTS, *_MEMORIES, *_SESSIONS, *_CHATS, *_OPERATIONS)
