"""Which models a bank may use: the deployment's own, and those on its list of allowed models."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from streambank.errors import InvalidArgument

# On the list of allowed models this stands for all models.
ANY_MODEL = "*"
# Google's SDK names models of its own service in configurations; the deployment's model is used in their place.
_GOOGLE_PREFIXES = ("projects/", "publishers/", "models/", "gemini", "text-embedding-", "text-multilingual-")
_FIELDS = (("generationConfig", "model"), ("similaritySearchConfig", "embeddingModel"))


def choose_model(requested: str | None, own: str, allowed: Collection[str]) -> str:
    """Return the model that a bank requests if it is allowed, else the deployment's *own*."""
    if requested and requested in allowed:
        return requested
    if not requested or _is_googles(requested) or not _is_allowed(requested, own, allowed):
        return own
    return requested


def check_models(document: Mapping[str, Any], path: str, own: tuple[str, str], allowed: Collection[str]) -> None:
    """Check the models that the configuration in *document* names.

    *path* is the document's own in the request, *own* the deployment's model and its embedding model.

    Raises:
        InvalidArgument: a model is not allowed in this deployment.
    """
    for (section, field), default in zip(_FIELDS, own, strict=True):
        name = document.get(section, {}).get(field)
        if name and not _is_googles(name) and not _is_allowed(name, default, allowed):
            raise InvalidArgument(f"{path}.{section}.{field}", "is not a model that this deployment allows")


def _is_googles(name: str) -> bool:
    return name.startswith(_GOOGLE_PREFIXES)


def _is_allowed(name: str, own: str, allowed: Collection[str]) -> bool:
    return name == own or name in allowed or ANY_MODEL in allowed
