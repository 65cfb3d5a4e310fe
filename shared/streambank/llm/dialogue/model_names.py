"""The choice of a model."""

from __future__ import annotations

from collections.abc import Collection

from streambank.errors import ModelNotConfigured
from streambank.rules.model_choice import choose_model


def select_model(requested: str | None, default: str, allowed: Collection[str]) -> str:
    """Return the model that a bank requests if it is allowed, else the deployment's.

    Raises:
        ModelNotConfigured: there is none.
    """
    model = choose_model(requested, default, allowed)
    if not model:
        raise ModelNotConfigured("this deployment names no model")
    return model
