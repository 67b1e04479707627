"""Scenes as SVG and PNG, as the canvas of the page shows them.

Not here: what is in a scene, where it stands, and drawing in the browser.
"""

from ufkit.viewer.drawing.png import to_png
from ufkit.viewer.drawing.svg import to_svg

__all__ = ["to_png", "to_svg"]
