"""A scene as SVG: one file that needs no other."""

from __future__ import annotations

from html import escape

from ufkit.viewer.drawing.labels import labels, width_of
from ufkit.viewer.drawing.shapes import (
    HALO,
    Disc,
    Letters,
    Rectangle,
    Shape,
    Style,
    Triangle,
    Way,
    colours_of,
    shapes,
)
from ufkit.viewer.graph.scene import Scene

_FONT = "system-ui, 'Liberation Sans', Arial, sans-serif"
_DROP = 0.36  # of the size: from the middle of letters down to their baseline


def to_svg(scene: Scene, theme: str = "light") -> str:
    """The scene as SVG 1.1, in CSS pixels. `theme` is "light" or "dark".

    Names are text whatever is in them. Fonts are those of whoever looks at it. Raises RequestError
    (VWR002) for another theme.
    """
    colours = colours_of(theme)
    written = labels(scene)
    size = f"{_number(width_of(scene, written))} {_number(scene.height)}"
    width, height = size.split()
    styles: dict[str, str] = {}
    body = [_element(shape, styles) for shape in shapes(scene, written, colours)]
    rules = "".join(f".{name}{{{rule}}}" for rule, name in styles.items())
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {size}" font-family="{_FONT}">\n<style>{rules}</style>\n'
        f'<rect width="{width}" height="{height}" fill="{colours["page"]}"/>'
    )
    return "\n".join([head, *body, "</svg>\n"])


def _element(shape: Shape, styles: dict[str, str]) -> str:
    match shape:
        case Rectangle(x, y, width, height, top, bottom, style) if top == bottom:
            place = f'x="{_number(x)}" y="{_number(y)}"'
            size = f'width="{_number(width)}" height="{_number(height)}"'
            corner = f' rx="{_number(top)}"' if top else ""
            return f"<rect {place} {size}{corner} {_class(style, styles)}/>"
        case Rectangle():
            return f'<path d="{_rounded(shape)}" {_class(shape.style, styles)}/>'
        case Disc(x, y, radius, style):
            place = f'cx="{_number(x)}" cy="{_number(y)}" r="{_number(radius)}"'
            return f"<circle {place} {_class(style, styles)}/>"
        case Triangle(corners, style):
            points = "L".join(f"{_number(x)} {_number(y)}" for x, y in corners)
            return f'<path d="M{points}Z" {_class(style, styles)}/>'
        case Way((x, y), pieces, style):
            way = f"M{_number(x)} {_number(y)}" + "".join(
                ("L" if len(piece) == 1 else "C")
                + " ".join(f"{_number(x)} {_number(y)}" for x, y in piece)
                for piece in pieces
            )
            return f'<path d="{way}" {_class(style, styles)}/>'
        case Letters():
            return _text(shape, styles)


def _text(text: Letters, styles: dict[str, str]) -> str:
    rule = f"fill:{text.colour};font-size:{_number(text.size)}px"
    rule += ";font-weight:600" if text.bold else ""
    rule += ";text-anchor:middle" if text.centred else ""
    if text.halo:
        rule += f";stroke:{text.halo};stroke-width:{2 * HALO:g};paint-order:stroke"
    place = f'x="{_number(text.x)}" y="{_number(text.y + _DROP * text.size)}"'
    whole = f"<title>{escape(text.whole)}</title>" if text.whole != text.text else ""
    return f'<text {place} class="{_named(rule, styles)}">{escape(text.text)}{whole}</text>'


def _rounded(box: Rectangle) -> str:
    """The outline of a rectangle with other corners at the top than at the bottom."""
    top, low = _number(box.top), _number(box.bottom)
    across = _number(box.width - 2 * box.top)
    side = _number(box.height - box.top - box.bottom)
    back = _number(box.width - 2 * box.bottom)
    return (
        f"M{_number(box.x + box.top)} {_number(box.y)}h{across}a{top} {top} 0 0 1 {top} {top}"
        f"v{side}a{low} {low} 0 0 1 -{low} {low}h-{back}a{low} {low} 0 0 1 -{low} -{low}"
        f"v-{side}a{top} {top} 0 0 1 {top} -{top}Z"
    )


def _class(style: Style, styles: dict[str, str]) -> str:
    rule = f"fill:{style.fill or 'none'}"
    if style.edge:
        rule += f";stroke:{style.edge};stroke-width:{_number(style.width)}"
    return f'class="{_named(rule, styles)}"'


def _named(rule: str, styles: dict[str, str]) -> str:
    return styles.setdefault(rule, f"s{len(styles)}")


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
