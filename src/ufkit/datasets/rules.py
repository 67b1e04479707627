"""Rules of datasets."""

from ufkit.core.diag import Rule, Severity

E, W, N = Severity.ERROR, Severity.WARNING, Severity.NOTE

# 0xx: the dataset as a whole
NOT_DATASET = Rule(
    "DAT001",
    E,
    "not a dataset that is known",
    why="Nothing tells how its images and labels are to be read.",
    hint="name the format: --from list, coco, voc, yolo, ...",
)
NO_SAMPLES = Rule(
    "DAT002",
    E,
    "no sample",
    why="A dataset of 0 images trains nothing and stops the tools that open it.",
    hint="check the path, and that the images end in .jpg, .png or another suffix that is known",
)
CANNOT_HOLD = Rule(
    "DAT003",
    E,
    "the target cannot hold it",
    why="It would be lost without a word.",
)
WORKER_DIED = Rule(
    "DAT004",
    E,
    "a worker process died",
    why="The system ended it, mostly for lack of memory; what it worked on is lost.",
    hint="take fewer --workers",
)
DUPLICATE = Rule(
    "DAT005",
    E,
    "two samples of one name",
    why="The second would take the place of the first.",
)
# 1xx: images
MISSING_IMAGE = Rule(
    "DAT101",
    E,
    "image is missing",
    why="The sample cannot be made; leaving it out changes the dataset.",
    hint="check the folder the names are relative to (--images), or leave it out: --on-error skip",
)
BAD_IMAGE = Rule(
    "DAT102",
    E,
    "image cannot be decoded",
    why="It is damaged, empty, or of a kind that OpenCV does not read.",
    hint="fetch it again, or leave it out: --on-error skip",
)
NO_PICTURE = Rule(
    "DAT103",
    E,
    "sample is no picture",
    why="Floats, or arrays of other than 1 or 3 channels, have no image file.",
    hint="write .npz or .lmdb",
)
SIZES_DIFFER = Rule(
    "DAT104",
    E,
    "images of different sizes",
    why="They do not fit into one array.",
    hint="bring them to one size: --resize-height H --resize-width W",
)

# 2xx: lists and annotations
BAD_LINE = Rule(
    "DAT201",
    E,
    "line is malformed",
    why="Caffe's tools end the whole list at such a line, silently.",
    hint="a line is: name, space, label",
)
BAD_ANNOTATION = Rule("DAT202", E, "annotation is malformed", why="Its boxes cannot be known.")
UNSAFE_XML = Rule(
    "DAT203",
    E,
    "XML with a document type or entities",
    why="They can read other files and fill the memory; annotations need none.",
    hint="remove the <!DOCTYPE ...> from the file",
)
UNKNOWN_CLASS = Rule(
    "DAT204",
    E,
    "class is not in the label map",
    why="There is no number for it.",
    hint="add it to the label map, or leave out --labels to number the classes anew",
)
NO_ANNOTATION = Rule(
    "DAT205",
    W,
    "image without annotation",
    why="It is taken for an image with nothing in it, which training learns from.",
)
LEFT_OUT = Rule(
    "DAT206", N, "something was left out", why="Records of the target have no place for it."
)
NO_IMAGE = Rule(
    "DAT207",
    W,
    "annotations of no image",
    why="They are in no record: boxes that somebody drew are lost.",
    hint="see whether images were removed from the list, or their ids changed",
)

# 3xx: boxes
BOX_OUTSIDE = Rule(
    "DAT301",
    W,
    "box reaches out of the image",
    why="Training tools warn, clip or fail on it, each in its own way.",
    hint="--outside clip cuts it, --outside drop leaves it out",
)
BOX_EMPTY = Rule(
    "DAT302",
    W,
    "box encloses nothing",
    why="Its right or lower edge is not beyond the other one; training divides by its size.",
    hint="--outside drop leaves it out",
)
WRONG_SIZE = Rule(
    "DAT303",
    W,
    "annotation has another image size",
    why="Boxes are divided by the annotation's width and height: they lie elsewhere in the image.",
    hint="was the image resized or turned after it was annotated?",
)

RULES = (
    NOT_DATASET,
    NO_SAMPLES,
    CANNOT_HOLD,
    WORKER_DIED,
    DUPLICATE,
    MISSING_IMAGE,
    BAD_IMAGE,
    NO_PICTURE,
    SIZES_DIFFER,
    BAD_LINE,
    BAD_ANNOTATION,
    UNSAFE_XML,
    UNKNOWN_CLASS,
    NO_ANNOTATION,
    LEFT_OUT,
    NO_IMAGE,
    BOX_OUTSIDE,
    BOX_EMPTY,
    WRONG_SIZE,
)
