"""Names and paths of resources."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

VERSION = "/v1beta1"
COLLECTION = "reasoningEngines"
BANK_NAME = re.compile(r"(?:projects/[^/]+/locations/[^/]+/)?(?:reasoningEngines|memoryBanks)/[^/]+")


@dataclass(frozen=True, slots=True)
class ResourcePath:
    """A resource: its *name* as replies write it, and its *path* as requests write it, percent-encoded."""

    name: str
    path: str

    def child(self, collection: str, id_or_name: str) -> ResourcePath:
        """Return a resource of a collection under this one.

        Raises:
            ValueError: the id is empty, or would be another path.
        """
        child_id = id_or_name.removeprefix(f"{self.name}/{collection}/")
        return ResourcePath(f"{self.name}/{collection}/{child_id}", f"{self.path}/{collection}/{segment(child_id)}")


BANKS = ResourcePath(COLLECTION, f"{VERSION}/{COLLECTION}")


def bank_path(id_or_name: str) -> ResourcePath:
    """Return the path of a bank. Raises ValueError for an id that would be another path."""
    if not BANK_NAME.fullmatch(id_or_name):
        return ResourcePath(f"{COLLECTION}/{id_or_name}", f"{BANKS.path}/{segment(id_or_name)}")
    return resource_path(id_or_name)


def resource_path(name: str) -> ResourcePath:
    """Return the path of a resource by its whole name, as the service writes it."""
    return ResourcePath(name, f"{VERSION}/" + "/".join(segment(part) for part in name.split("/")))


def segment(text: str) -> str:
    """Return *text* as one segment of a path, percent-encoded. Raises ValueError for text that cannot be one."""
    # Proxies remove dots from paths, escaped or not, and an empty segment would name the collection.
    if text in ("", ".", ".."):
        raise ValueError(f"{text!r} cannot be an id")
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise ValueError("an id must be text that UTF-8 can encode") from None
