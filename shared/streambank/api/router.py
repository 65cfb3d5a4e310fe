"""Finding the route of a request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from streambank.api.route import Route
from streambank.errors import MethodNotAllowed, NotFound
from streambank.wire.http import BankPath


@dataclass(frozen=True, slots=True)
class _Segment:
    """A part of a path: `memories`, `{memory}`, or `{memory}:rollback`; *parameter* is empty for the first kind."""

    parameter: str
    literal: str

    @classmethod
    def of(cls, text: str) -> _Segment:
        if not text.startswith("{"):
            return cls("", text)
        parameter, _, literal = text[1:].partition("}")
        return cls(parameter, literal)

    def matches(self, text: str) -> bool:
        return text.endswith(self.literal) and (
            len(text) > len(self.literal) if self.parameter else text == self.literal
        )


class Router:
    """Matches methods and paths; a path without parameters comes before one with."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = tuple(routes)
        self._static = {
            (route.method, route.is_collection, route.path): route for route in self.routes if "{" not in route.path
        }
        self._dynamic = [
            (tuple(map(_Segment.of, route.path.split("/"))), route) for route in self.routes if "{" in route.path
        ]

    def match(self, method: str, path: BankPath) -> tuple[Route, dict[str, str]]:
        """Return the route of a request, and the parameters in its path.

        Raises:
            NotFound: there is no such path.
            MethodNotAllowed: the path has other methods.
        """
        static = self._static.get((method, not path.bank, path.rest))
        if static is not None:
            return static, {}
        matches = self._matches(path)
        for route, path_arguments in matches:
            if route.method == method:
                return route, path_arguments
        if matches:
            raise MethodNotAllowed(method, sorted({route.method for route, _ in matches}))
        raise NotFound("there is no such route")

    def _matches(self, path: BankPath) -> list[tuple[Route, dict[str, str]]]:
        """Return the routes of a path, of any method, each with the parameters in the path.

        Of paths with parameters the one with the longest literals counts: `{memory}:rollback` is no `{memory}`.
        """
        static = [route for (_, *place), route in self._static.items() if place == [not path.bank, path.rest]]
        texts = path.rest.split("/")
        matches = [pair for pair in self._dynamic if path.bank and _is_match(pair[0], texts)]
        longest = max((_literal_length(segments) for segments, _ in matches), default=0)
        dynamic = [pair for pair in matches if _literal_length(pair[0]) == longest]
        return [(route, {}) for route in static] + [(route, _arguments(parts, texts)) for parts, route in dynamic]


def _literal_length(segments: Sequence[_Segment]) -> int:
    return sum(len(segment.literal) for segment in segments)


def _is_match(segments: Sequence[_Segment], texts: Sequence[str]) -> bool:
    return len(segments) == len(texts) and all(map(_Segment.matches, segments, texts))


def _arguments(segments: Sequence[_Segment], texts: Sequence[str]) -> dict[str, str]:
    pairs = zip(segments, texts, strict=True)
    return {segment.parameter: text.removesuffix(segment.literal) for segment, text in pairs if segment.parameter}
