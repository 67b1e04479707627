"""Rules of the command line itself."""

from ufkit.core.diag import Rule, Severity

USAGE = Rule(
    "CLI001",
    Severity.ERROR,
    "command makes no sense",
    why="Nothing was done: an option or argument is unknown, missing or contradicts another.",
)
INTERNAL = Rule(
    "CLI002",
    Severity.ERROR,
    "fault in ufkit",
    why="ufkit met a case its authors did not think of. Outputs are as they were before.",
    hint="please report it, with what the same command prints with --debug added",
)
OUT_OF_MEMORY = Rule(
    "CLI003",
    Severity.ERROR,
    "out of memory",
    why="The machine has less memory than this needs. Outputs are as they were before.",
    hint="free memory, or use a machine that has more",
)
INTERRUPTED = Rule(
    "CLI004",
    Severity.ERROR,
    "interrupted",
    why="The work was stopped from outside. Outputs are as they were before.",
)
BAD_ARRAYS = Rule(
    "CLI005",
    Severity.ERROR,
    "arrays cannot be read",
    why="The file is no .npy or .npz of plain arrays; objects (pickles) are never loaded.",
    hint="write it with numpy.save or numpy.savez",
)

RULES = (USAGE, INTERNAL, OUT_OF_MEMORY, INTERRUPTED, BAD_ARRAYS)
