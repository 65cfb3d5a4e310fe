from datetime import timedelta

import pytest

from streambank.errors import BudgetPaused, ModelOutputInvalid
from streambank.llm.ports import ExtractionRequest
from streambank.model.bank import BankConfig
from streambank.model.extraction import Extraction
from streambank.model.usage import Price, Usage
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.rules.bank_config import bank_config
from streambank.store.usage import UsageStore

PRICES = {"default": Price(3, 15), "small": Price(0.25, 1.25)}
SPENT = Usage(calls=1, characters=9, input_tokens=1_000, output_tokens=100)


def config(**generation) -> BankConfig:
    return bank_config({"generationConfig": generation})


@pytest.fixture
def token_budget(world):
    return TokenBudget(UsageStore(world.table), 5_000, prices=PRICES)


def asked(token_budget, config, world, usage=SPENT):
    answer = Extraction((), usage)
    return token_budget.call("default", config, ExtractionRequest(()), lambda _: answer, now=world.clock()).usage


@pytest.mark.parametrize(("model", "micros"), [(None, 4_500), ("small", 375), ("never heard of", 4_500)])
def test_a_call_costs_what_its_model_costs(token_budget, world, model, micros):
    """The estimate is tokens times the price of the bank's model; a model without one costs what the default does."""
    assert asked(token_budget, config(model=model), world).micros == micros
    assert token_budget.usage_store.day("default", world.clock().date()).micros == micros


def test_without_prices_there_is_no_estimate(token_budget, world):
    """A deployment that was told no prices estimates nothing, and counts all the same."""
    plain = TokenBudget(token_budget.usage_store)
    assert asked(plain, config(), world) == SPENT
    assert token_budget.usage_store.day("default", world.clock().date()) == SPENT


def test_an_answer_that_cannot_be_used_costs_too(token_budget, world):
    """What a failed call spent is booked with its price, and told by the error."""

    def fail(_):
        error = ModelOutputInvalid("no")
        error.spent = SPENT
        raise error

    with pytest.raises(ModelOutputInvalid) as raised:
        token_budget.call("default", config(), ExtractionRequest(()), fail, now=world.clock())
    assert raised.value.spent.micros == 4_500
    assert token_budget.usage_store.day("default", world.clock().date()).micros == 4_500


def test_the_report_shows_the_effective_budget(token_budget, world):
    """A bank's own budget counts where it is lower, and today's tokens are told whatever days are asked for."""
    asked(token_budget, config(), world)
    today = world.clock().date()
    week_ago = today - timedelta(days=7)
    assert token_budget.report("default", config(), today, today, now=world.clock()).daily_tokens == 5_000
    books = token_budget.report("default", config(dailyTokenBudget=7), week_ago, week_ago, now=world.clock())
    assert (books.days, books.daily_tokens, books.tokens_today) == ({}, 7, 1_100)


def test_a_spent_budget_asks_nothing(token_budget, world):
    """The call that reaches the budget is the last of its UTC day."""
    asked(token_budget, config(), world, Usage(input_tokens=5_000))
    with pytest.raises(BudgetPaused):
        asked(token_budget, config(), world)
    world.clock.move(days=1)
    assert asked(token_budget, config(), world).calls == 1
