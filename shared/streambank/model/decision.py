"""What a model decides about a fact when it is asked again."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from streambank.model.validity import OPEN, Validity


class Action(StrEnum):
    """What a model may decide about a fact."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    NONE = "NONE"


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with fact number *fact*; a fact may have several decisions, each with a text of its own.

    *memories* are numbers for UPDATE (several: they become one), DELETE and NONE, *text* is for CREATE and UPDATE.
    NONE with *same_as* says that another fact of the request says the same. *is_correction* says that what the memories
    said was never true.
    """

    fact: int
    action: Action
    memories: tuple[int, ...] = ()
    text: str | None = None
    reason: str = ""
    same_as: int | None = None
    validity: Validity = OPEN
    is_correction: bool = False
