"""Rules of UFW and Caffe files."""

from ufkit.core.diag import Rule, Severity

E, W, N = Severity.ERROR, Severity.WARNING, Severity.NOTE

# 0xx: what the file is
NOT_NET = Rule("UFW001", E, "not a Caffe or UFW file", why="Nothing can be read from it as such.")
NO_LAYERS = Rule(
    "UFW002",
    E,
    "no layer in the file",
    why="An empty file, or one of another kind, can be read as a net without layers.",
)
BOTH_STYLES = Rule(
    "UFW003",
    W,
    "old and new layers in one file",
    why="Caffe refuses a net that has both `layers` and `layer`.",
)

# 1xx: blobs
BLOB_SIZE = Rule(
    "UFW101",
    E,
    "blob size mismatch",
    why="A reader trusting `shape` runs past the data or drops weights.",
    hint="the file may be damaged; take it from its source again",
)
BLOB_SHAPE = Rule("UFW102", E, "impossible blob shape", why="No array can have it.")
NO_DATA = Rule(
    "UFW103",
    N,
    "blob without data",
    why="It holds a shape only, no weights.",
)
SEVERAL_STORAGES = Rule(
    "UFW104",
    N,
    "blob with several storages",
    why="Floats and integers say the same thing twice; the floats are what a reader means.",
)
FOREIGN_BLOB = Rule(
    "UFW105",
    W,
    "blob of another Caffe",
    why="Forks of Caffe use some field numbers for other things, which are kept, not understood.",
)
NOT_FINITE = Rule(
    "UFW106", W, "blob with NaN or infinity", why="One such weight ruins every result it reaches."
)
DOES_NOT_FIT = Rule(
    "UFW107",
    E,
    "values that a blob cannot hold",
    why="UFW stores integers in 32 bits; wider ones would come back as others.",
)

RULES = (
    NOT_NET,
    NO_LAYERS,
    BOTH_STYLES,
    BLOB_SIZE,
    BLOB_SHAPE,
    NO_DATA,
    SEVERAL_STORAGES,
    FOREIGN_BLOB,
    NOT_FINITE,
    DOES_NOT_FIT,
)
