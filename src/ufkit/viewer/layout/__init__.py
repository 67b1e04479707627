"""Graphs laid out from top to bottom: ranks, an order in each, columns, frames around groups.

Not here: what the boxes stand for, text, colours, drawing.
"""

from ufkit.viewer.layout.compound import lay_out
from ufkit.viewer.layout.crossings import crossings
from ufkit.viewer.layout.diagram import Diagram, Placement, Point, Route, Spacing

__all__ = ["Diagram", "Placement", "Point", "Route", "Spacing", "crossings", "lay_out"]
