"""Rules of what is done with UFF files: comparing, recovering, editing."""

from ufkit.core.diag import Rule, Severity

E, N = Severity.ERROR, Severity.NOTE

# 50x: two files held against each other
NOT_COMPARED = Rule(
    "UFF501",
    N,
    "weights not compared",
    why="One of the files is a text without them: that the rest is the same says nothing of them.",
    hint="compare the .uff files",
)
PRINTED_DOUBLES = Rule(
    "UFF502",
    N,
    "doubles compared as printed",
    why="Old converters wrote 12 digits of a double into the text: it cannot be told from another "
    "that has the same.",
)

# 51x: recovering damaged files
BYTES_LOST = Rule(
    "UFF511",
    E,
    "bytes lost",
    why="They are part of nothing that can be read; what stood there is not in the result.",
)
PART_MISSING = Rule(
    "UFF512",
    E,
    "part missing",
    why="What is left of the file needs it; without it the model cannot be run or converted.",
)
CONSTANT_CUT = Rule(
    "UFF513",
    E,
    "constant cut short",
    why="The file ends inside its elements. Those that were there are kept, the others are zero: "
    "the model runs, and computes something else.",
)
PUT_IN = Rule(
    "UFF514",
    N,
    "put in place of what was lost",
    why="Readers need it; it is what every known file has, or what the rest of this one says.",
)

# 52x: editing
NO_SUCH_NODE = Rule(
    "UFF521",
    E,
    "no node of that id",
    why="What was asked concerns a node that the graph does not have. Nothing was changed.",
    hint="`ufkit dump` and `ufkit info` list the ids",
)
ID_IN_USE = Rule(
    "UFF522",
    E,
    "id in use",
    why="Inputs name nodes by id: of two with the same one, neither could be meant.",
)
CANNOT_EDIT = Rule(
    "UFF523",
    E,
    "edit does not fit the graph",
    why="The result would be no graph that can be run.",
)

RULES = (
    NOT_COMPARED,
    PRINTED_DOUBLES,
    BYTES_LOST,
    PART_MISSING,
    CONSTANT_CUT,
    PUT_IN,
    NO_SUCH_NODE,
    ID_IN_USE,
    CANNOT_EDIT,
)
