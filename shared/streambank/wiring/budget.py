"""The budget that model calls are held within."""

from __future__ import annotations

from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.store.usage import UsageStore
from streambank.wiring.deployment import Deployment


def token_budget(deployment: Deployment, *, books_embeddings: bool = False) -> TokenBudget:
    """Return the budget of *deployment*; see `TokenBudget` for *books_embeddings*."""
    settings = deployment.settings
    return TokenBudget(
        UsageStore(deployment.table),
        settings.daily_tokens,
        settings.call_tokens,
        settings.prices,
        settings.models.max_output_tokens,
        books_embeddings,
    )
