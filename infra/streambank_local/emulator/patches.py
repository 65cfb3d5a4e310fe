"""Methods of other libraries that this process replaces, and what they were."""

from collections.abc import Callable
from types import ModuleType
from typing import Any


class Patches:
    """Replaced methods, which `restore` puts back."""

    def __init__(self) -> None:
        self._originals: list[tuple[type | ModuleType, str, Any]] = []

    def __bool__(self) -> bool:
        """Tell whether anything is replaced."""
        return bool(self._originals)

    def replace(self, owner: type | ModuleType, name: str, replacement_of: Callable[[Any], Any]) -> None:
        """Replace a method by what *replacement_of* makes of it, or of None where there is none."""
        self._originals.append((owner, name, vars(owner).get(name)))
        setattr(owner, name, replacement_of(getattr(owner, name, None)))

    def restore(self) -> None:
        """Put the original methods back."""
        while self._originals:
            owner, name, original = self._originals.pop()
            if original is None:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
