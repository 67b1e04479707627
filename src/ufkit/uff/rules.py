"""Rules of UFF files."""

from ufkit.core.diag import Rule, Severity

E, W, N = Severity.ERROR, Severity.WARNING, Severity.NOTE

# 0xx: what the file is
NOT_UFF = Rule("UFF001", E, "not a UFF file", why="Nothing can be read from it as UFF.")
EMPTY = Rule(
    "UFF002",
    E,
    "no graph in the file",
    why="TensorRT says `Unsupported number of graph 0`: an empty file is a valid, useless message.",
    hint="the file may be empty or the download incomplete; fetch it again",
)
VERSION = Rule(
    "UFF003",
    W,
    "unknown version",
    why="Every known file says 1; another number may mean something else.",
)
UNKNOWN_FIELDS = Rule(
    "UFF004",
    W,
    "unknown fields",
    why="They are kept when the file is saved, but their meaning is not known here.",
)
DUPLICATE_KEY = Rule(
    "UFF005",
    W,
    "key given twice",
    why="Maps keep the last value; a reader that keeps the first sees another model.",
)

MISSING_DESCRIPTOR = Rule(
    "UFF006",
    N,
    "descriptor not declared",
    why="Readers that trust the list of descriptors do not look for custom operations.",
)

# 1xx: the graph
DUPLICATE_ID = Rule(
    "UFF101",
    E,
    "node id given twice",
    why="Inputs name nodes by id, so which of them is meant cannot be known.",
)
DANGLING = Rule(
    "UFF102",
    E,
    "input does not exist",
    why="The node takes a value that no node of the graph makes.",
)
CYCLE = Rule("UFF103", E, "nodes wait for each other", why="There is no order to compute them in.")
NO_OUTPUT = Rule(
    "UFF104",
    E,
    "graph has no output",
    why="TensorRT says `Network must have at least one output`.",
    hint="the graph needs a MarkOutput node that names its results",
)
UNREACHABLE = Rule(
    "UFF105",
    N,
    "nodes that no output needs",
    why="They take space and do nothing; often left over from training.",
)
INPUT_COUNT = Rule("UFF106", E, "wrong number of inputs", why="The operation cannot be computed.")

# 2xx: fields
UNKNOWN_OPERATION = Rule(
    "UFF200",
    W,
    "unknown operation",
    why="It can be shown and kept, but not checked, run or converted.",
)
CUSTOM_OPERATION = Rule(
    "UFF201",
    W,
    "custom operation",
    why="The converter did not know this TensorFlow operation, or it is a TensorRT plugin.",
)
BAD_REFERENCE = Rule(
    "UFF202",
    E,
    "reference leads nowhere",
    why="The value a field refers to is not in the file.",
)
BAD_VALUES_SIZE = Rule(
    "UFF203",
    E,
    "constant size mismatch",
    why="A reader trusting `shape` runs past the data or drops weights.",
    hint="the file may be damaged or badly converted; convert it again from its source",
)
SKIPPED_VALUES = Rule(
    "UFF204",
    W,
    "values left out",
    why="The text twin of a UFF file names its weights but does not hold them.",
    hint="use the .uff beside it; to try the graph without its weights, `ufkit edit` with "
    "--random-weights makes some up",
)
MISSING_FIELD = Rule("UFF205", E, "field missing", why="The operation needs it.")
UNKNOWN_FIELD = Rule(
    "UFF206",
    N,
    "field not of this operation",
    why="It has no meaning here; a misspelt field looks like this.",
)
FIELD_KIND = Rule("UFF207", E, "field of the wrong kind", why="Its value cannot be used.")
FIELD_VALUE = Rule("UFF208", E, "value not allowed", why="The operation has no such mode.")
BAD_ORDERS = Rule(
    "UFF209",
    E,
    "axis orders do not fit",
    why="Which axis is the channel decides every number that comes out.",
)
LOST_CONSTANT = Rule(
    "UFF210",
    W,
    "constant that the converter lost",
    why="NVIDIA's converter wrote no elements for values it could not read (int64 scalars, "
    "strings, training-mode moments).",
)

UNUSED_DATA = Rule(
    "UFF211",
    N,
    "data that nothing refers to",
    why="It takes space and does nothing.",
)

FOREIGN_OPERATION = Rule(
    "UFF212",
    N,
    "operation of TensorFlow, not of UFF",
    why="The converter passed it on with its TensorFlow meaning. TensorRT's parser refuses it "
    "unless a plugin of that name is loaded.",
)

LEFTOVER = Rule(
    "UFF213",
    E,
    "operation of training, or of TensorFlow's run time",
    why="A graph that is fit for use has none that an output needs: losses, gradients, random "
    "numbers, variables, loops and the reading of data stay behind when it is frozen.",
)
NO_VALUE = Rule(
    "UFF214",
    E,
    "operation without a value",
    why="It only checks something or makes others wait; there is nothing to pass on.",
    hint="mark the node whose value is meant as the output",
)

# 3xx: shapes and meaning
NO_SHAPE = Rule(
    "UFF301",
    W,
    "input without a shape",
    why="Early converters did not record it; sizes cannot be computed without it.",
)
SHAPE_CONFLICT = Rule("UFF302", E, "shapes do not fit", why="The operation cannot be computed.")
NO_BATCH = Rule(
    "UFF303",
    N,
    "input shape lacks the batch",
    why="The convolutions it feeds have one axis more; a batch axis is put in front.",
)
INPUT_NCHW = Rule(
    "UFF304",
    N,
    "input channels first, convolutions channels last",
    why="The shape was recorded for TensorRT's NCHW data while the graph is NHWC; the data is "
    "taken as the shape says and turned inside.",
)
SOFTMAX_AXIS = Rule(
    "UFF305",
    N,
    "Softmax axis not given",
    why="0 and absent both mean that the converter wrote none; TensorFlow's Softmax works on "
    "the last axis.",
)
KEEPDIMS = Rule(
    "UFF306",
    N,
    "Reduce drops its axes",
    why="TensorFlow drops the reduced axes here; NVIDIA's parser ignored `keepdims` and kept them.",
)
CONCAT_AXIS = Rule(
    "UFF307",
    N,
    "Concat axis beyond the rank",
    why="Written for a parser that counted the batch apart; the last axis is meant.",
)
FLATTEN_ORDER = Rule(
    "UFF308",
    N,
    "Flatten of a channels-last map",
    why="Elements come in the graph's own order (H, W, C); a reader that keeps maps as C, H, W "
    "and flattens those ruins the weights that follow.",
)

BRANCH_TAKEN = Rule(
    "UFF310",
    N,
    "training leftover resolved",
    why="The graph was frozen with its training side; a model in use takes the other branch.",
)
PADDING_TWICE = Rule(
    "UFF311",
    N,
    "padding given in two ways",
    why="`implicit_padding` says how the map is padded; the numbers in `padding` are not used.",
)
SEVERAL_GRAPHS = Rule(
    "UFF309",
    N,
    "several graphs",
    why="TensorRT takes one; the graph called `main` is what converters mean by it.",
    hint="choose another: --graph ID",
)

OUTPUT_TOLD = Rule(
    "UFF312",
    N,
    "value told by the numbers of its takers",
    why="The file has lost which of several values is meant; nodes numbered in a row take them in "
    "that order.",
)
LOST_OUTPUT = Rule(
    "UFF313",
    E,
    "which of several values is meant is lost",
    why="Of TensorFlow's `split:1` the converter wrote `split`, and every choice would be another "
    "model.",
    hint="write the input as NAME:NUMBER, counted from 0, in the text form (`ufkit dump`), as the "
    "model's source has it",
)

# 32x: detectors with TensorRT's plugins
ANCHORS_WITHOUT_INPUT = Rule(
    "UFF320",
    W,
    "anchors made of no input",
    why="TensorRT's parser stops with `CHECK failed: (index) < (current_size_)`: it looks at the "
    "first input, which has no other effect.",
    hint="`ufkit edit --fix` adds one, a Const [1, 1]",
)
DETECTION_COUNTS = Rule(
    "UFF321",
    E,
    "anchors, boxes and scores differ in number",
    why="Boxes would be taken for those of other anchors; TensorRT stops with "
    "`#assertion nmsPlugin.cpp`.",
)
DETECTION_ORDER = Rule(
    "UFF322",
    E,
    "inputs of the detection taken for each other",
    why="Boxes, scores and anchors are told by their places only; TensorRT stops with "
    "`#assertion nmsPlugin.cpp`.",
    hint="correct inputOrder_u_ilist: the places of boxes, scores and anchors among the inputs",
)
STRAY_INPUT = Rule(
    "UFF323",
    W,
    "an Input left among the inputs of the detection",
    why="graphsurgeon's collapse_namespaces leaves it there; TensorRT's plugin takes three inputs "
    "and crashes on a fourth.",
    hint="`ufkit edit --fix` takes it out; it has no effect here",
)
FLATTEN_AXIS = Rule(
    "UFF324",
    W,
    "FlattenConcat without its axis",
    why="TensorRT's plugin then uses a number that was never set, and stops with `#assertion "
    "flattenConcat.cpp` where that is none of 1, 2, 3.",
    hint="set axis_u_int to 1 and ignoreBatch_u_int to 0; they are taken so here",
)
FLATTEN_RANK = Rule(
    "UFF325",
    N,
    "FlattenConcat of more than four axes",
    why="TensorRT's plugin takes three beside the batch and stops with `#assertion "
    "flattenConcat.cpp`.",
    hint="reshape the inputs to [N, boxes, numbers] for TensorRT",
)
KEPT_BEYOND = Rule(
    "UFF326",
    W,
    "numbers of boxes that TensorRT does not take",
    why="Its plugin writes no result at all where keepTopK is above topK, and fails where topK is "
    "above 4096. Here they are taken as they are meant.",
    hint="raise topK to keepTopK or lower keepTopK, and keep topK below 4097",
)
CONTROL_INPUT = Rule(
    "UFF314",
    N,
    "control input left out",
    why="TensorFlow's `^name` only says that a node comes first. The converter wrote it like data, "
    "behind the inputs that the operation takes.",
)

# 4xx: running
BAD_INPUT = Rule("UFF401", E, "input does not fit", why="The model cannot be run on it.")
TOO_LARGE = Rule(
    "UFF402",
    E,
    "too large to compute",
    why="The value would exhaust the machine; sizes like this come from damaged or hostile files.",
)

RULES = (
    NOT_UFF,
    EMPTY,
    VERSION,
    UNKNOWN_FIELDS,
    DUPLICATE_KEY,
    MISSING_DESCRIPTOR,
    DUPLICATE_ID,
    DANGLING,
    CYCLE,
    NO_OUTPUT,
    UNREACHABLE,
    INPUT_COUNT,
    UNKNOWN_OPERATION,
    CUSTOM_OPERATION,
    BAD_REFERENCE,
    BAD_VALUES_SIZE,
    SKIPPED_VALUES,
    MISSING_FIELD,
    UNKNOWN_FIELD,
    FIELD_KIND,
    FIELD_VALUE,
    BAD_ORDERS,
    LOST_CONSTANT,
    UNUSED_DATA,
    FOREIGN_OPERATION,
    LEFTOVER,
    NO_VALUE,
    NO_SHAPE,
    SHAPE_CONFLICT,
    NO_BATCH,
    INPUT_NCHW,
    SOFTMAX_AXIS,
    KEEPDIMS,
    CONCAT_AXIS,
    FLATTEN_ORDER,
    BRANCH_TAKEN,
    PADDING_TWICE,
    CONTROL_INPUT,
    SEVERAL_GRAPHS,
    OUTPUT_TOLD,
    LOST_OUTPUT,
    ANCHORS_WITHOUT_INPUT,
    DETECTION_COUNTS,
    DETECTION_ORDER,
    STRAY_INPUT,
    FLATTEN_AXIS,
    FLATTEN_RANK,
    KEPT_BEYOND,
    BAD_INPUT,
    TOO_LARGE,
)
