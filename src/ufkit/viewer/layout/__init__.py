"""Graphs laid out from top to bottom: ranks, an order in each, columns, frames around groups.

Not here: what the boxes stand for, text, colours, drawing. `compound.lay_out` does it; whoever only
needs to say what a layout is takes `diagram`, which loads nothing.
"""
