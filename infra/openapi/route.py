"""What is said of a route, and where routes are."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from infra.openapi import parameters
from infra.openapi.parameters import JsonObject

BANKS = "/v1beta1/projects/{project}/locations/{location}/reasoningEngines"
BANK = f"{BANKS}/{{bank}}"
MEMORIES = f"{BANK}/memories"
MEMORY = f"{MEMORIES}/{{memory}}"
SESSIONS = f"{BANK}/sessions"
SESSION = f"{SESSIONS}/{{session}}"
CHAT = f"{BANK}/chatHistory"
OPERATIONS = f"{BANK}/operations"
OPERATION = f"{OPERATIONS}/{{operation}}"
_KINDS = ("memories", "sessions", "operations", "chatHistory")


@dataclass(frozen=True, slots=True)
class Route:
    """One method of one path."""

    name: str
    method: str
    path: str
    summary: str
    answer: type[BaseModel]
    body: type[BaseModel] | None = None
    parameters: Sequence[JsonObject] = ()
    may_exist_already: bool = False
    needs_body: bool = True

    @property
    def has_expectation(self) -> bool:
        """Tell whether the route heeds If-Match."""
        return parameters.IF_MATCH in self.parameters

    @property
    def tag(self) -> str:
        """Return the kind of resource that the route is about."""
        return next((kind for kind in _KINDS if f"/{kind}" in self.path or kind in self.name), "banks")
