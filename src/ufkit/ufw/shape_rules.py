"""Rules of the shapes that layers of a net make: of UFW0xx, those from 008."""

from ufkit.core.diag import Rule, Severity

SHAPES_CONFLICT = Rule(
    "UFW008",
    Severity.WARNING,
    "a layer cannot take what it is given",
    why="Caffe refuses the net when it sets the sizes of its arrays.",
    hint="the sizes follow from the inputs by Caffe's formulas; a fork may compute them otherwise",
)
NO_INPUT = Rule(
    "UFW009",
    Severity.ERROR,
    "the net has no such input",
    why="A shape can be given for what a net takes, and for what its data layers make.",
)

RULES = (SHAPES_CONFLICT, NO_INPUT)
