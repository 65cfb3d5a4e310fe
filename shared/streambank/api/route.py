"""The declaration of a route, and what is done with every request before and after its handler."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from streambank import tracing
from streambank.api.request import Request
from streambank.model.principal import Role
from streambank.rules import access
from streambank.wire import http, query, reader

# A longer id, or one with other characters, is no id of ours, and is not put into a span.
_RECORD_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

JsonObject = dict[str, Any]
Handler = Callable[..., Any]
T = TypeVar("T")
H = TypeVar("H", bound=Handler)


class Reach(Enum):
    """What a request may touch."""

    ONE_SCOPE = auto()  # the handler checks the scope that it learns of
    ALL_SCOPES = auto()  # a caller that is bound to a scope is refused


class WithHeaders(Generic[T]):
    """A reply with headers of its own."""

    def __init__(self, document: T, headers: Mapping[str, str]) -> None:
        self.document = document
        self.headers = headers


@dataclass(frozen=True, slots=True)
class Route:
    """One method of one path.

    The handler is called with the request, the body where it has a parameter of that name, and each {name} of the path
    as `name_id`. The types of its `body` and of its result are the shapes of the request and of the reply.
    """

    name: str
    method: str
    path: str  # below the bank; below the collection of banks where is_collection
    summary: str
    role: Role
    handler: Handler
    parameters: Sequence[JsonObject] = ()
    reach: Reach = Reach.ONE_SCOPE
    span: str | None = None  # the operation in OpenTelemetry's conventions for generative AI; others send no span
    is_collection: bool = False
    needs_body: bool = True
    creates: bool = False  # may answer 409: the id is taken
    max_body_bytes: int = reader.MAX_BODY_BYTES
    described_body: type | None = None  # the model of a body that the handler reads by hand

    @property
    def body(self) -> Any:
        """Return the model of the body, or None for a route without one."""
        return self.described_body or get_type_hints(self.handler).get("body")

    @property
    def query_parameters(self) -> tuple[str, ...]:
        """Return the names of the parameters that the route takes in its query."""
        return tuple(one["name"] for one in self.parameters if one["in"] == "query")

    @property
    def reply(self) -> Any:
        """Return the type of the reply."""
        result = get_type_hints(self.handler)["return"]
        return get_args(result)[0] if get_origin(result) is WithHeaders else result

    def respond(self, request: Request, path_arguments: Mapping[str, str]) -> http.Response:
        """Authorize the request, call the handler, and return its reply as an HTTP response.

        Raises:
            StreambankError: the caller may not do this, or whatever the handler raises.
        """
        with self._open_span(request, path_arguments):
            self._authorize(request)
            query.check(request.event.get("queryStringParameters") or {}, self.query_parameters)
            reply = self.handler(request, **self._arguments(request, path_arguments))
        if isinstance(reply, WithHeaders):
            return http.response(reply.document, headers=reply.headers)
        return http.response(reply)

    def _authorize(self, request: Request) -> None:
        access.check(request.principal, self.role, request.path.bank)
        if self.reach is Reach.ALL_SCOPES:
            access.check_unbound(request.principal)

    def _arguments(self, request: Request, path_arguments: Mapping[str, str]) -> dict[str, Any]:
        arguments: dict[str, Any] = {f"{name}_id": value for name, value in path_arguments.items()}
        if "body" in self.handler.__annotations__:
            is_absent = not self.needs_body and not request.event.get("body")
            body = {} if is_absent else request.body(max_bytes=self.max_body_bytes)
            arguments["body"] = self.body.parse(body)
        return arguments

    def _open_span(self, request: Request, path_arguments: Mapping[str, str]) -> Any:
        if self.span is None:
            return tracing.no_span()
        memory_id = path_arguments.get("memory", "")
        attributes = {
            tracing.OPERATION_NAME: self.span if self.span != tracing.INGEST else "",
            tracing.STORE_ID: request.path.bank,
            tracing.RECORD_ID: memory_id if _RECORD_ID.fullmatch(memory_id) else "",
        }
        present = {name: value for name, value in attributes.items() if value}
        return tracing.span(self.span, present, parent=request.header("traceparent"))


class Routes:
    """The routes of one module, each declared by a decorator on its handler."""

    def __init__(self) -> None:
        self.declared: list[Route] = []

    def get(self, path: str, name: str, summary: str, **more: Any) -> Callable[[H], H]:
        """Declare a GET route; *more* are further fields of `Route`. Its role is READ unless it says otherwise."""
        return self._declare("GET", path, name, summary, {"role": Role.READ, **more})

    def post(self, path: str, name: str, summary: str, **more: Any) -> Callable[[H], H]:
        """Declare a POST route."""
        return self._declare("POST", path, name, summary, more)

    def put(self, path: str, name: str, summary: str, **more: Any) -> Callable[[H], H]:
        """Declare a PUT route."""
        return self._declare("PUT", path, name, summary, more)

    def patch(self, path: str, name: str, summary: str, **more: Any) -> Callable[[H], H]:
        """Declare a PATCH route."""
        return self._declare("PATCH", path, name, summary, more)

    def delete(self, path: str, name: str, summary: str, **more: Any) -> Callable[[H], H]:
        """Declare a DELETE route."""
        return self._declare("DELETE", path, name, summary, more)

    def _declare(self, method: str, path: str, name: str, summary: str, more: Mapping[str, Any]) -> Callable[[H], H]:
        def declare(handler: H) -> H:
            self.declared.append(Route(name, method, path, summary, handler=handler, **more))
            return handler

        return declare
