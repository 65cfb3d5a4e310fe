"""What importing the package costs, and what it says where Strands is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from streambank_client import strands

ROOT = Path(__file__).resolve().parents[3]


def run(program: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "client")}
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True, env=environment
    )
    return ran.stdout.strip()


def test_types_are_light() -> None:
    """The types and our manager bring neither HTTP nor Strands."""
    program = "import sys, streambank_client.strands; print({'httpx', 'pydantic', 'strands'} & set(sys.modules))"
    assert run(program) == "set()"


def test_stores_need_no_strands() -> None:
    """The stores for our manager work where Strands is missing."""
    assert run("import sys; sys.modules['strands'] = None; from streambank_client.strands import BankStore; print(1)")


def test_missing_strands_is_told() -> None:
    """Where Strands is missing, its store says what to install."""
    program = """
import sys
sys.modules["strands"] = None
try:
    from streambank_client.strands import StreambankMemoryStore
except ModuleNotFoundError as error:
    print(error)
"""
    assert run(program) == "StreambankMemoryStore needs Strands: pip install 'streambank-client[strands]'"


def test_the_name_of_strands_manager() -> None:
    """The name of Strands' own manager is an error that names both managers and where each is used."""
    with pytest.raises(ImportError, match=r"strands\.memory.*StreambankMemoryManager"):
        _ = strands.MemoryManager


def test_unknown_name() -> None:
    """A name that is not there is an AttributeError."""
    with pytest.raises(AttributeError, match="Nothing"):
        _ = strands.Nothing
