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
DUPLICATE_LAYER = Rule(
    "UFW004",
    W,
    "layer name is used twice",
    why="Weights are found by the name of their layer: the first one gets them.",
)
NO_MAKER = Rule(
    "UFW005",
    W,
    "a layer takes what nothing makes",
    why="Caffe refuses the net: unknown bottom blob.",
)
OLD_STYLE = Rule(
    "UFW006",
    N,
    "layers of the older style",
    why="Tools of today may not see them, and take the net for an empty one.",
    hint="Caffe's upgrade_net_proto_binary and upgrade_net_proto_text rewrite such files",
)
UNKNOWN_FIELDS = Rule(
    "UFW007",
    W,
    "fields that only the binary form can hold",
    why="Forks of Caffe number fields of their own; text and JSON would lose them.",
    hint="keep the binary file; `ufkit dump` shows all the rest",
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
LEGACY_SHAPE = Rule(
    "UFW108",
    N,
    "blobs with four sizes",
    why="Files from before 2015 pad every shape to four axes: a bias is [1, 1, 1, N].",
)
WHOLE_NUMBERS = Rule(
    "UFW109",
    N,
    "floats that are small whole numbers",
    why="BM1880's tools keep INT8 weights so; the table of the net has what they stand for.",
)
NO_IMAGE = Rule(
    "UFW110",
    E,
    "not a mean image",
    why="A mean has one number for each channel, or for each pixel of each channel.",
    hint="give 1 x C x H x W, C x H x W or C",
)

# 3xx: datasets and their records
BAD_RECORD = Rule(
    "UFW301",
    E,
    "record and shape do not fit",
    why="Readers refuse it, or run past its data.",
    hint="the dataset may be damaged, or was written for another reader; make it again",
)
BAD_IMAGE = Rule(
    "UFW302",
    E,
    "image cannot be decoded",
    why="The record says that it holds the file of an image; readers stop at it.",
    hint="the file may have been cut short or empty when the dataset was made",
)
RECORD_VALUES = Rule(
    "UFW303",
    E,
    "values that a record cannot hold",
    why="They would come back as others, or not at all.",
)
NOT_DATASET = Rule(
    "UFW304",
    E,
    "not a dataset",
    why="Datasets are LMDB databases of Datum or AnnotatedDatum records.",
)
DAMAGED_DATABASE = Rule(
    "UFW305",
    E,
    "database is damaged",
    why="Reading what is missing would end the process.",
    hint="copy it again from where it came from, with the program that wrote it closed",
)
FOREIGN_RECORD = Rule(
    "UFW306",
    E,
    "record of another kind",
    why="Other tools keep their own things in LMDBs; Caffe and UFW take them for broken images.",
)
BAD_KEY = Rule(
    "UFW307",
    E,
    "key cannot be used",
    why="A key names one record and has from 1 to 511 bytes; a second record of that name would "
    "take the place of the first, or be lost.",
)
MIXED_RECORDS = Rule(
    "UFW308",
    W,
    "records of two kinds",
    why="A data layer reads one kind: of an AnnotatedDatum, Caffe's sees sizes 0 x 0 x 0.",
    hint="make two datasets of it",
)
DIFFERENT_RECORDS = Rule(
    "UFW309",
    W,
    "records of several shapes or types",
    why="Layers that take batches, or do not resize, stop at the first one that differs.",
    hint="resize the images when the dataset is made, or in the layer that reads them",
)
GREY_AMONG_COLOUR = Rule(
    "UFW310",
    W,
    "numbers of channels differ",
    why="A grey image among colour ones stops the data layer: 1 channel where it has seen 3.",
    hint="make the dataset again with all images in colour, or all in grey",
)
RECORD_NOT_FINITE = Rule(
    "UFW311",
    W,
    "record with NaN or infinity",
    why="Calibration takes its thresholds from the largest value: one such number ruins them.",
)
ALL_ZERO = Rule(
    "UFW312",
    W,
    "record of zeros only",
    why="It adds nothing; calibration stops where a layer's greatest output is 0.",
)
SAME_CONTENT = Rule(
    "UFW313",
    W,
    "content comes twice",
    why="What is in a set twice counts twice, and between sets for training and test it cheats.",
)
BOX_OUTSIDE = Rule(
    "UFW314",
    W,
    "box reaches outside the image",
    why="SSD only warns of it; losses and scores then count what cannot be seen.",
    hint="clip boxes when the dataset is made",
)
BOX_EMPTY = Rule(
    "UFW315",
    W,
    "box without an area",
    why="Its corners are the wrong way round or in one place: nothing can overlap it.",
    hint="decimals cut off by older tools do this; make the dataset again",
)
UNKNOWN_LABEL = Rule(
    "UFW316",
    W,
    "label is not in the label map",
    why="Tools that look a name up stop there, or show another class.",
    hint="the dataset and the label map may be of different sets of classes",
)
NO_LABELS = Rule(
    "UFW317",
    N,
    "records without a label",
    why="Calibration needs none; what trains or tests reads 0 in its place.",
)
STATED_SIZES = Rule(
    "UFW318",
    W,
    "record and image differ in size",
    why="Readers that make room by the sizes the record states, before they decode, fail.",
)

# 4xx: the text of a net and its weights
NO_WEIGHTS = Rule(
    "UFW401",
    W,
    "layer without weights",
    why="Caffe fills it with what its fillers make: results mean nothing.",
    hint="the weights may be of another net, or their layers have other names",
)
NO_TEXT = Rule(
    "UFW402",
    N,
    "weights without a layer",
    why="Caffe leaves them aside; common where layers for training were cut off.",
)
WRONG_WEIGHTS = Rule(
    "UFW403",
    E,
    "weights do not fit their layer",
    why="Caffe refuses them: cannot copy param, shape mismatch.",
    hint="the two files are not of the same net",
)

# 5xx: labels
DUPLICATE_LABEL = Rule(
    "UFW501",
    W,
    "label is used twice",
    why="Of two classes with one number, or one name, only one can be found.",
)

RULES = (
    NOT_NET,
    NO_LAYERS,
    BOTH_STYLES,
    DUPLICATE_LAYER,
    NO_MAKER,
    OLD_STYLE,
    UNKNOWN_FIELDS,
    BLOB_SIZE,
    BLOB_SHAPE,
    NO_DATA,
    SEVERAL_STORAGES,
    FOREIGN_BLOB,
    NOT_FINITE,
    DOES_NOT_FIT,
    LEGACY_SHAPE,
    WHOLE_NUMBERS,
    NO_IMAGE,
    BAD_RECORD,
    BAD_IMAGE,
    RECORD_VALUES,
    NOT_DATASET,
    DAMAGED_DATABASE,
    FOREIGN_RECORD,
    BAD_KEY,
    MIXED_RECORDS,
    DIFFERENT_RECORDS,
    GREY_AMONG_COLOUR,
    RECORD_NOT_FINITE,
    ALL_ZERO,
    SAME_CONTENT,
    BOX_OUTSIDE,
    BOX_EMPTY,
    UNKNOWN_LABEL,
    NO_LABELS,
    STATED_SIZES,
    NO_WEIGHTS,
    NO_TEXT,
    WRONG_WEIGHTS,
    DUPLICATE_LABEL,
)
