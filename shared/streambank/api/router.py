"""Finding the route of a request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from streambank.api.route import Route
from streambank.errors import NotFound
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
        """Return the route of a request, and the parameters in its path. Raises NotFound."""
        static = self._static.get((method, not path.bank, path.rest))
        if static is not None:
            return static, {}
        texts = path.rest.split("/")
        for segments, route in self._dynamic:
            if route.method == method and path.bank and _is_match(segments, texts):
                return route, _arguments(segments, texts)
        raise NotFound("there is no such route or method")


def _is_match(segments: Sequence[_Segment], texts: Sequence[str]) -> bool:
    return len(segments) == len(texts) and all(map(_Segment.matches, segments, texts))


def _arguments(segments: Sequence[_Segment], texts: Sequence[str]) -> dict[str, str]:
    pairs = zip(segments, texts, strict=True)
    return {segment.parameter: text.removesuffix(segment.literal) for segment, text in pairs if segment.parameter}
