"""The page about the formats."""

import re
from pathlib import Path

from streambank_client.formats import FORMATS, Reason

PAGE = Path(__file__).parents[3] / "docs/formats.md"


def test_the_examples_of_the_page_run():
    """What the page shows is true: its examples run one after the other, their assertions hold."""
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) == 4
    exec("\n".join(examples), {})


def test_the_page_names_everything():
    """Every format and every reason has its line."""
    text = PAGE.read_text(encoding="utf-8")
    assert [word for word in [*FORMATS, *Reason] if f"`{word}`" not in text] == []
