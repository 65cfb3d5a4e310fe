"""Methods of other libraries that this process replaces, and what they were."""

from collections.abc import Callable
from typing import Any


class Patches:
    """Replaced methods, which `restore` puts back."""

    def __init__(self) -> None:
        self._originals: list[tuple[type, str, Any]] = []

    def replace(self, owner: type, name: str, replacement_of: Callable[[Any], Any]) -> None:
        """Replace a method by what *replacement_of* makes of it."""
        original = vars(owner)[name]
        self._originals.append((owner, name, original))
        setattr(owner, name, replacement_of(original))

    def restore(self) -> None:
        """Put the original methods back."""
        while self._originals:
            setattr(*self._originals.pop())
