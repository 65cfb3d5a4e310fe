"""The caller of a request, and what it may do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

EVERY_BANK = "*"


class Role(StrEnum):
    """What a caller may do; none of them includes another."""

    INGEST = "ingest"
    READ = "read"
    EDIT = "edit"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller.

    *scope* holds the pairs that every scope in its requests must contain, or is None for any scope. *has_path_only*
    says that the path of the request was authorized, and nothing that its body names.
    """

    name: str
    banks: tuple[str, ...]
    roles: frozenset[Role]
    scope: dict[str, str] | None = None
    has_path_only: bool = False

    def __post_init__(self) -> None:
        # An empty scope would match every scope, which is surely not intended.
        if self.scope is not None and not self.scope:
            raise ValueError("the scope of a caller must name at least one key")

    @property
    def has_every_bank(self) -> bool:
        return EVERY_BANK in self.banks


def operator(name: str, *, has_path_only: bool = False) -> Principal:
    """Return a caller who may do everything, or everything below the path of its request."""
    return Principal(name, (EVERY_BANK,), frozenset(Role), has_path_only=has_path_only)
