"""Usage and cost of a bank's models."""

from __future__ import annotations

from datetime import date

from streambank_client.types.base import Shape


class Cost(Shape):
    """Sums of model calls; the estimate in US dollars is 0 if the deployment has no prices.

    The input tokens include those that a prompt cache gave or took. Calls of the service for personal data are counted
    with the units of text that it bills; the estimate does not hold their price.
    """

    model_calls: int = 0
    prompted_characters: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    embedding_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    model_retries: int = 0
    personal_data_calls: int = 0
    personal_data_units: int = 0
    estimated_cost_usd: float = 0.0


class DayCost(Cost):
    """The sums of one UTC day."""

    date: date


class Usage(Shape):
    """The days with model calls, in order; without a budget there is no limit."""

    days: list[DayCost] = []
    total: Cost
    daily_token_budget: int | None = None
    tokens_today: int = 0
