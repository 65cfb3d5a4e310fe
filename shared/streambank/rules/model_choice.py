"""Which models a bank may use: the deployment's own, and those on its list of allowed models."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from streambank.errors import InvalidArgument

# On the list of allowed models this stands for all models.
ANY_MODEL = "*"
# Google's SDK names models of its own service in configurations; the deployment's model is used in their place.
_GOOGLE_PREFIXES = ("projects/", "publishers/", "models/", "gemini", "text-embedding-", "text-multilingual-")
# Where Nova Lite is served: by an inference profile of the continent, in GovCloud by its own id (Amazon Bedrock user
# guide, "Supported Regions and models for batch inference", its columns of models and inference profiles).
_NOVA_LITE = {
    **dict.fromkeys(("us-east-1", "us-east-2", "us-west-2"), "us.amazon.nova-lite-v1:0"),
    **dict.fromkeys(
        ("eu-central-1", "eu-north-1", "eu-south-1", "eu-south-2", "eu-west-1", "eu-west-3"), "eu.amazon.nova-lite-v1:0"
    ),
    **dict.fromkeys(
        ("ap-northeast-1", "ap-northeast-2", "ap-south-1", "ap-southeast-1", "ap-southeast-2"),
        "apac.amazon.nova-lite-v1:0",
    ),
    "us-gov-west-1": "amazon.nova-lite-v1:0",
}
_FIELDS = (("generationConfig", "model"), ("similaritySearchConfig", "embeddingModel"))


def choose_model(requested: str | None, own: str, allowed: Collection[str]) -> str:
    """Return the model that a bank requests if it is allowed, else the deployment's *own*."""
    if requested and requested in allowed:
        return requested
    if not requested or _is_googles(requested) or not _is_allowed(requested, own, allowed):
        return own
    return requested


def requested_model(requested: str | None) -> str:
    """Return the model that a bank requests, or nothing."""
    return requested or ""


def check_model(name: str | None, path: str, own: str, allowed: Collection[str]) -> None:
    """Check the model *name* of the field *path*; *own* is the deployment's. Raises InvalidArgument."""
    if name and not _is_googles(name) and not _is_allowed(name, own, allowed):
        raise InvalidArgument(path, "is not a model that this deployment allows")


def check_models(document: Mapping[str, Any], path: str, own: tuple[str, str], allowed: Collection[str]) -> None:
    """Check the models that the configuration in *document* names.

    *path* is the document's own in the request, *own* the deployment's model and its embedding model.

    Raises:
        InvalidArgument: a model is not allowed in this deployment.
    """
    for (section, field), default in zip(_FIELDS, own, strict=True):
        check_model(document.get(section, {}).get(field), f"{path}.{section}.{field}", default, allowed)


def _is_googles(name: str) -> bool:
    return name.startswith(_GOOGLE_PREFIXES)


def _is_allowed(name: str, own: str, allowed: Collection[str]) -> bool:
    return name == own or name in allowed or ANY_MODEL in allowed


def default_model(region: str) -> str:
    """Return the id of Nova Lite for calls from *region*, or nothing where no document says that it is served."""
    return _NOVA_LITE.get(region, "")
