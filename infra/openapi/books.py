"""What a bank's model calls cost."""

from typing import Annotated

from pydantic import Field

from infra.openapi.leaves import Answer


class Cost(Answer):
    """Sums; the estimate is 0 where the deployment was told no prices."""

    model_calls: int
    prompted_characters: int
    input_tokens: int
    output_tokens: int
    model_retries: int
    estimated_cost_usd: float


class DayCost(Cost):
    """The sums of one UTC day."""

    date: Annotated[str, Field(json_schema_extra={"format": "date"})]


class Books(Answer):
    """The days on which the bank's models were called, in order; without a budget there is no limit."""

    days: list[DayCost]
    total: Cost
    daily_token_budget: int | None = None
    tokens_today: int
