"""Writes docs/pictures."""

from __future__ import annotations

from pathlib import Path

from infra.pictures.drawing import svg
from infra.pictures.pictures import PICTURES

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"

if __name__ == "__main__":
    for name, picture in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(svg(picture))
        print(f"docs/pictures/{name}.svg")
