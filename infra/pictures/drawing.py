"""Boxes and arrows on a grid, as SVG that can be read on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape

COLUMN, ROW, MARGIN = 290, 120, 20
BOX_WIDTH, BOX_HEIGHT = 180, 60
LINE_HEIGHT = 17

_STYLE = """
  text { font: 14px system-ui, sans-serif; fill: #1f2328; text-anchor: middle; dominant-baseline: central; }
  .label { font-size: 12px; fill: #57606a; }
  .beside { text-anchor: start; }
  .group-name { text-anchor: start; font-weight: 600; }
  rect { fill: #f6f8fa; stroke: #57606a; }
  .group { fill: none; stroke-dasharray: 4 3; }
  path { stroke: #57606a; fill: none; }
  .head { fill: #57606a; stroke: none; }
  .page { fill: #ffffff; stroke: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .label { fill: #9198a1; }
    rect { fill: #161b22; stroke: #9198a1; }
    .group { fill: none; }
    path { stroke: #9198a1; }
    .head { fill: #9198a1; }
    .page { fill: #0d1117; }
  }
"""


@dataclass(frozen=True)
class Box:
    """A box with its middle on the grid; `|` begins a new line of its text."""

    text: str
    column: float
    row: float


@dataclass(frozen=True)
class Group:
    """A frame with a name, from the box at one corner to the box at the other."""

    name: str
    left: float
    top: float
    right: float
    bottom: float
    margin: int = 30


@dataclass(frozen=True)
class Arrow:
    """An arrow from one box to another, by their numbers in the picture."""

    start: int
    end: int
    label: str = ""


@dataclass(frozen=True)
class Picture:
    """A picture: what a reader who cannot see it is told, its boxes, arrows and groups."""

    title: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...] = ()
    groups: tuple[Group, ...] = field(default=())

    def texts(self) -> set[str]:
        """Return all that can be read in the picture."""
        labels = {arrow.label for arrow in self.arrows if arrow.label}
        return {box.text for box in self.boxes} | labels | {group.name for group in self.groups}


def svg(picture: Picture) -> str:
    """Return the picture as an SVG document."""
    outside = 4 * MARGIN + max((group.margin for group in picture.groups), default=0)
    width = round(max(box.column for box in picture.boxes) * COLUMN + BOX_WIDTH + outside)
    height = round(max(box.row for box in picture.boxes) * ROW + BOX_HEIGHT + outside)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
        f"<title>{escape(picture.title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{width}" height="{height}"/>',
    ]
    for group in picture.groups:
        lines += _group(group)
    for arrow in picture.arrows:
        lines += _arrow(picture.boxes[arrow.start], picture.boxes[arrow.end])
    for box in picture.boxes:
        lines += _box(box)
    for arrow in picture.arrows:
        lines += _label(picture.boxes[arrow.start], picture.boxes[arrow.end], arrow.label)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _middle(box: Box) -> tuple[float, float]:
    return box.column * COLUMN + BOX_WIDTH / 2 + 2 * MARGIN, box.row * ROW + BOX_HEIGHT / 2 + 2 * MARGIN


def _box(box: Box) -> Iterator[str]:
    x, y = _middle(box)
    left, top = x - BOX_WIDTH / 2, y - BOX_HEIGHT / 2
    yield f'<rect x="{left:g}" y="{top:g}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6"/>'
    yield _text(box.text, x, y)


def _text(text: str, x: float, y: float, kind: str = "") -> str:
    lines = text.split("|")
    first = y - (len(lines) - 1) * LINE_HEIGHT / 2
    spans = [f'<tspan x="{x:g}" y="{first + n * LINE_HEIGHT:g}">{escape(line)}</tspan>' for n, line in enumerate(lines)]
    return f'<text class="{kind}">{"".join(spans)}</text>'


def _group(group: Group) -> Iterator[str]:
    left, top = _middle(Box("", group.left, group.top))
    right, bottom = _middle(Box("", group.right, group.bottom))
    x, y = left - BOX_WIDTH / 2 - group.margin + 16, top - BOX_HEIGHT / 2 - group.margin
    width, height = right - left + BOX_WIDTH + 2 * group.margin - 32, bottom - top + BOX_HEIGHT + 2 * group.margin - 12
    yield f'<rect class="group" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8"/>'
    yield f'<text class="group-name" x="{x + 8:g}" y="{y + 13:g}">{escape(group.name)}</text>'


def _ends(start: Box, end: Box) -> tuple[float, float, float, float]:
    """Return where an arrow leaves a box and where it meets the other one: at the sides that face each other."""
    (x1, y1), (x2, y2) = _middle(start), _middle(end)
    if abs(x2 - x1) / COLUMN >= abs(y2 - y1) / ROW:
        side = BOX_WIDTH / 2 if x2 > x1 else -BOX_WIDTH / 2
        return x1 + side, y1, x2 - side, y2
    side = BOX_HEIGHT / 2 if y2 > y1 else -BOX_HEIGHT / 2
    return x1, y1 + side, x2, y2 - side


def _arrow(start: Box, end: Box) -> Iterator[str]:
    x1, y1, x2, y2 = _ends(start, end)
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    along_x, along_y = (x2 - x1) / length, (y2 - y1) / length
    base_x, base_y = x2 - 9 * along_x, y2 - 9 * along_y
    yield f'<path d="M{x1:g} {y1:g} L{base_x:.1f} {base_y:.1f}"/>'
    left = f"{base_x - 4 * along_y:.1f} {base_y + 4 * along_x:.1f}"
    right = f"{base_x + 4 * along_y:.1f} {base_y - 4 * along_x:.1f}"
    yield f'<path class="head" d="M{x2:g} {y2:g} L{left} L{right} Z"/>'


def _label(start: Box, end: Box, label: str) -> Iterator[str]:
    if label:
        x1, y1, x2, y2 = _ends(start, end)
        x, y = (x1 + x2) / 2, (y1 + y2) / 2
        is_level = abs(x2 - x1) >= abs(y2 - y1)
        yield _text(label, x, y - 10, "label") if is_level else _text(label, x + 8, y, "label beside")
