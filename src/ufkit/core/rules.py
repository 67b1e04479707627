"""Rules that concern files and extras, whatever the format."""

from ufkit.core.diag import Rule, Severity

CANNOT_READ = Rule(
    "UFK001",
    Severity.ERROR,
    "file cannot be read",
    why="The operating system refused to open or read it.",
    hint="check the path and its permissions",
)
CANNOT_WRITE = Rule(
    "UFK002",
    Severity.ERROR,
    "file cannot be written",
    why="The operating system refused; the target is as it was before.",
    hint="check the folder, its permissions and the space left on the disk",
)
EXISTS = Rule(
    "UFK003",
    Severity.ERROR,
    "output exists",
    why="Replacing a file nobody asked to replace loses data.",
    hint="choose another name, or pass --force to replace it",
)
MISSING_EXTRA = Rule(
    "UFK004",
    Severity.ERROR,
    "optional library missing",
    why="The default installation stays small; this job needs one more library.",
)
CLOSED = Rule(
    "UFK005",
    Severity.ERROR,
    "file was closed",
    why="Weights stay in the file until read; once it is closed they are out of reach.",
    hint="read what you need inside the `with` block, or open without it",
)

RULES = (CANNOT_READ, CANNOT_WRITE, EXISTS, MISSING_EXTRA, CLOSED)
