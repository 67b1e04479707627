"""Rules of the viewer: VWR001 and up."""

from __future__ import annotations

from ufkit.core.diag import Rule, Severity

NOTHING_TO_SEE = Rule(
    "VWR001",
    Severity.ERROR,
    "the file is of a kind that cannot be viewed",
    why="There is a page for models, nets, calibration tables and datasets; this file is none.",
    hint="ufkit info says what is known of it",
)
BAD_REQUEST = Rule(
    "VWR002",
    Severity.ERROR,
    "the page asked for something that is not there",
    why="An address that was typed or kept names a graph, node or record that this file lacks.",
    hint="go back to the page of the file and choose again",
)
TOO_LONG = Rule(
    "VWR003",
    Severity.ERROR,
    "laying out the graph took too long",
    why="The layout is stopped after a while so that the page stays usable.",
    hint="close scopes (key G), so that fewer boxes are drawn",
)
ADDRESS_TAKEN = Rule(
    "VWR004",
    Severity.ERROR,
    "the address cannot be listened on",
    why="Another program has the port, or the address is none of this machine's.",
    hint="leave out --port to take any that is free",
)
TOO_LARGE = Rule(
    "VWR005",
    Severity.ERROR,
    "the graph does not fit a picture",
    why="A picture of so many pixels cannot be opened by most programs, or shows nothing.",
    hint="take SVG, another scale, or close scopes first",
)
FILE_CHANGED = Rule(
    "VWR006",
    Severity.ERROR,
    "the file was written to while it was shown",
    why="What was read of it before no longer goes with what is in it now.",
    hint="run ufkit view again",
)
RECORD_TOO_LARGE = Rule(
    "VWR101",
    Severity.ERROR,
    "the record is too large to be shown",
    why="A picture of it would take more memory than a page should ask for.",
    hint="ufkit convert SOURCE TARGET --max-dim 2000 makes a dataset of smaller images",
)

RULES = (
    NOTHING_TO_SEE,
    BAD_REQUEST,
    TOO_LONG,
    ADDRESS_TAKEN,
    TOO_LARGE,
    FILE_CHANGED,
    RECORD_TOO_LARGE,
)
