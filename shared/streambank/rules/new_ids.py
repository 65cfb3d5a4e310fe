"""The ids of the memories that a window creates."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from itertools import count

from streambank.model import ids
from streambank.model.window import Window


@dataclass(frozen=True, slots=True)
class NewIds:
    """Derives ids from the service's *secret* and the window; *others* are the ids of other memories."""

    secret: bytes
    window: Window
    others: set[str] = field(default_factory=set)

    def of(self, candidate: int, existing: Container[str] = ()) -> str:
        """Return the id of the memory that candidate number *candidate* (from 0) creates, the same in every run.

        An id of another memory, or among the *existing* ids of the scope, is passed over.
        """
        return next(one for one in self._choices(candidate) if one not in self.others and one not in existing)

    def _choices(self, candidate: int) -> Iterator[str]:
        stream, number = self.window.stream, str(self.window.number)
        for choice in count():
            yield ids.secret_id(self.secret, "window", stream.bank, stream.sid, number, str(candidate), str(choice))
