"""Editing: parts cut out, nodes put in, renamed and taken away, weights made up, faults mended.

What is not touched is written back byte for byte; `ufkit.uff.io.save` does that.

Not here: the model itself, and anything that trains.
"""
