import pytest

from streambank.model.usage import Price, Usage
from streambank.settings import Settings

ENVIRONMENT = {"TABLE_NAME": "t"}


def test_prices_by_model():
    """Prices are dollars per million tokens in and out, by model; none are told by default."""
    told = Settings.read(ENVIRONMENT | {"MODEL_PRICES": "default=3/15, eu.model-1:0=0.25/1.25"})
    assert told.prices == {"default": Price(3, 15), "eu.model-1:0": Price(0.25, 1.25)}
    assert Settings.read(ENVIRONMENT).prices == {}


def test_prices_of_a_prompt_cache():
    """They may follow; without them reading costs a tenth of input, and writing 1.25 times as much as input."""
    prices = Settings.read(ENVIRONMENT | {"MODEL_PRICES": "default=3/15,nova=0.06/0.24/0.015/0"}).prices
    assert prices["nova"] == Price(0.06, 0.24, 0.015, 0)
    usage = Usage(input_tokens=3_000_000, cache_read_tokens=1_000_000, cache_write_tokens=1_000_000)
    assert prices["default"].of(usage) == 3_000_000 + 300_000 + 3_750_000
    assert prices["nova"].of(usage) == 60_000 + 15_000


@pytest.mark.parametrize("text", ["3/15", "default=3", "default=a/b", "default", "default=1/2/3/4/5"])
def test_what_is_no_price_stops_the_start(text):
    """A setting that cannot be read is an error that names it, not an estimate of nothing."""
    with pytest.raises(ValueError, match="MODEL_PRICES"):
        Settings.read(ENVIRONMENT | {"MODEL_PRICES": text})


@pytest.mark.parametrize(("text", "allowed"), [("", set()), ("*", {"*"}), ("a.b-v1:0, c.d,", {"a.b-v1:0", "c.d"})])
def test_allowed_models_are_a_list(text, allowed):
    """The names of allowed models stand with commas between them; by default there is none."""
    assert Settings.read(ENVIRONMENT | {"ALLOWED_MODELS": text}).models.allowed == allowed
