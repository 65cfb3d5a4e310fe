"""What each failure of a deployed stack means, and what cures it: pure functions of what the API replied."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_KEY = "make a key with the command in the stack's output FirstKey, and pass it whole, as sb_..."
_MODEL = (
    "the account cannot call ModelId or EmbeddingModelId from this region. Enable access in the console of Bedrock; "
    "invoke a model of Anthropic or Cohere once yourself, since its first call needs rights that the stack lacks; "
    "where a model is served by an inference profile only, name the profile (us., eu., apac. or global. before it). "
    "Then redrive: POST {bank}/operations:redrive"
)
_STATUSES = {
    401: f"the key is not accepted: {_KEY}",
    403: "the caller may not do this: the smoke test needs the roles ingest and read for the bank, and no scope",
    404: "the bank does not exist, or the key is not for it; pass another one with --bank",
    413: "the gateway refuses the body: is the URL that of the stack's output Url?",
    429: "the throttle of the API: raise RequestsPerSecond, or the account's quota of concurrent Lambda executions",
    500: "a function failed: search `fault` in the output LogGroup, and Lambda's own lines for import errors",
    502: "a function failed before it could reply: look at the output LogGroup",
    503: "the service asks to be called again: try in a minute; if it stays, look at the dashboard",
}
_OUTCOMES = {
    "MODEL_NOT_CONFIGURED": _MODEL,
    "MODEL_THROTTLED": "the account's quota for the model is used up: raise it in Service Quotas, or "
    "lower MaxOutputTokens, which is charged in advance",
    "MODEL_UNAVAILABLE": "the model cannot be reached: does the stack's region have Bedrock? Else try again",
    "MODEL_TIMED_OUT": "the model is slow: raise ModelTimeoutSeconds",
    "MODEL_REJECTED": "the request is wrong for this model: it must support a forced tool choice in Converse",
    "MODEL_OUTPUT_INVALID": "the model's answers cannot be used: choose another ModelId (docs/models.md)",
    "MODEL_OUTPUT_TRUNCATED": "the answer had no room: raise MaxOutputTokens",
    "MODEL_REFUSED": "a guardrail or a content filter stops harmless text: look at GuardrailId",
    "BUDGET_PAUSED": "the bank has used up DailyTokenBudget",
    "Lambda.TooManyRequestsException": "the account's quota of concurrent Lambda executions is used up: raise it",
}


@dataclass(frozen=True)
class Finding:
    """One part of the stack: whether it works, what was seen, and the cure if it does not work."""

    part: str
    works: bool
    detail: str
    cure: str = ""

    def document(self) -> dict[str, Any]:
        """Return the finding as JSON."""
        return {"part": self.part, "works": self.works, "detail": self.detail, "cure": "" if self.works else self.cure}

    def lines(self) -> list[str]:
        """Return the lines that a person reads."""
        head = f"{'ok  ' if self.works else 'FAIL'} {self.part}: {self.detail}"
        return [head] if self.works else [head, f"     {self.cure}"]


def refused(part: str, status: int, message: str) -> Finding:
    """Return the finding of a call that got an error."""
    cure = _STATUSES.get(status, "this is no reply of Streambank: check the URL, which is the stack's output Url")
    return Finding(part, False, f"HTTP {status} {message}".strip(), cure)


def unreachable(part: str, problem: str) -> Finding:
    """Return the finding of a call without a reply."""
    return Finding(part, False, problem, "check the URL, which is the stack's output Url, and its region")


def generation(metadata: Mapping[str, Any], waited_seconds: float) -> Finding:
    """Return the finding about the model, of an operation that is not done after a while."""
    state, failure = metadata.get("state", ""), metadata.get("failure") or ""
    detail = " ".join(filter(None, (state, failure, metadata.get("providerError"))))
    if failure:
        cure = _OUTCOMES.get(failure, "look at docs/operating.md, and search `generation failed` in LogGroup")
        return Finding("model", False, detail, cure)
    cure = (
        "nothing has started the generation: look at the alarms SweepStopped and StreamLags, and whether the account's "
        "quota of concurrent Lambda executions is used up"
        if state == "SEALED"
        else "look at the newest execution of the output StateMachineArn"
    )
    return Finding("model", False, f"{detail} after {waited_seconds:.0f} s", cure)


def embedding(status: int, message: str) -> Finding:
    """Return the finding about the embedder, of a search that got an error."""
    if status not in {429, 500, 502, 503, 504}:
        return refused("embedder", status, message)
    return Finding("embedder", False, f"HTTP {status} {message}".strip(), _MODEL)
