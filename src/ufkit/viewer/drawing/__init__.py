"""Scenes as SVG and PNG, as the canvas of the page shows them.

Not here: what is in a scene, where it stands, and drawing in the browser.
"""
