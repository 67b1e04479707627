"""Rules of conversions."""

from ufkit.core.diag import Rule, Severity

CANNOT_CONVERT = Rule(
    "CNV001",
    Severity.ERROR,
    "no equivalent",
    why="The operation, or this use of it, cannot be said in the target format.",
)
WRONG_PAIR = Rule(
    "CNV002",
    Severity.ERROR,
    "no such conversion",
    why="There is no way from this kind of file to that one.",
)
BAD_OPSET = Rule(
    "CNV003",
    Severity.ERROR,
    "opset not available",
    why="The lowering is written for opset 13 and later; newer ones must be known to `onnx`.",
)
REFUSED = Rule(
    "CNV004",
    Severity.ERROR,
    "model refused by onnx",
    why="What was written does not pass the checks of the `onnx` package: a mistake of ufkit, or "
    "ids that ONNX cannot hold.",
    hint="please report this with the file",
)
BAD_ARRAY = Rule(
    "CNV005",
    Severity.ERROR,
    "array cannot be read",
    why="A .npy holds the numbers of one array, and no Python objects.",
)
DIFFERS = Rule(
    "CNV101",
    Severity.ERROR,
    "results differ",
    why="The converted model does not compute what the original does.",
    hint="please report this with the file; until then do not rely on the converted model",
)
NOT_FINITE = Rule(
    "CNV102",
    Severity.WARNING,
    "results not finite",
    why="Random inputs led to NaN or infinity, so the comparison says less than it should.",
    hint="verify on real inputs: --verify-data inputs.npz",
)
VERIFIED_BY_ONNX = Rule(
    "CNV103",
    Severity.NOTE,
    "verified without ONNX Runtime",
    why="The `onnx` package's own evaluator ran the model: right, but not what will run it.",
    hint="python3 -m pip install 'ufkit[run]'",
)

UP_TO_FOREIGN = Rule(
    "CNV104",
    Severity.NOTE,
    "verified up to nodes that nothing here can run",
    why="The model holds nodes of a domain that only its own run time knows. Every value they take "
    "and every output that does not depend on them was compared; they and what follows were not.",
    hint="run the model where it is meant to run, and compare its outputs there",
)
CHOSEN = Rule(
    "CNV105",
    Severity.NOTE,
    "judged on the engine's own values",
    why="Operations that choose (ArgMax, comparisons, rounding, suppression) turn differences of "
    "rounding into others. On the engine's own inputs the reference chooses the same.",
)

NOT_ALIKE = Rule(
    "CNV205",
    Severity.ERROR,
    "models that cannot be compared",
    why="A Caffe net has layers where UFF and ONNX have operations; nothing goes together.",
)
ONNX_REFUSED = Rule(
    "CNV201",
    Severity.ERROR,
    "ONNX model refused",
    why="The engine that runs ONNX models does not take this one, or fails on these inputs.",
)
BAD_ONNX = Rule(
    "CNV202",
    Severity.ERROR,
    "ONNX weights damaged",
    why="Their values are not where the model says, or not as many as it says.",
    hint="the file may be cut, or the .data file beside it missing; fetch both again",
)
BY_NAME = Rule(
    "CNV203",
    Severity.NOTE,
    "compared by name",
    why="The ONNX model was not made by this program from a file like this one: inputs, outputs "
    "and weights are compared, what the nodes compute is not.",
    hint="to know whether both compute the same: ufkit convert --verify, or ufkit run on both",
)
AS_CONVERTED = Rule(
    "CNV204",
    Severity.NOTE,
    "compared as converted",
    why="The UFF side was converted as the ONNX model had been: differences are told in ONNX's "
    "words.",
)

BAD_TF = Rule(
    "CNV401",
    Severity.ERROR,
    "TensorFlow graph damaged",
    why="A node takes one that is not there, two have one name, or a constant has other elements "
    "than its shape and type ask for. TensorFlow would not load it either.",
    hint="the file may be cut; export it again",
)
NOT_FROZEN = Rule(
    "CNV402",
    Severity.ERROR,
    "weights are not in the graph",
    why="A UFF holds weights as constants. This keeps them as variables, elsewhere; freezing the "
    "model in TensorFlow makes constants of them.",
)
NO_TF_NODE = Rule(
    "CNV403",
    Severity.ERROR,
    "no such node in the graph",
    why="Outputs, and the nodes that become inputs, are named as they are in TensorFlow's graph.",
    hint="--list-nodes shows their names",
)
STAYS_TF = Rule(
    "CNV404",
    Severity.WARNING,
    "operation stays TensorFlow's",
    why="UFF has no such operation. It is written as `_<name>` with TensorFlow's attributes, as "
    "NVIDIA's converter did; TensorRT takes it only where a plugin of that name is there.",
    hint="cut it off with -O, or give the node behind it as an input with -I",
)
OUTPUTS_GUESSED = Rule(
    "CNV405",
    Severity.NOTE,
    "outputs guessed",
    why="A graph does not say what its outputs are. The nodes that no other takes are.",
    hint="name them with -O",
)
LOST_CONSTANT = Rule(
    "CNV406",
    Severity.WARNING,
    "constant without its value",
    why="UFF has no such type, or NVIDIA's converter could not read it: the constant is there with "
    "shape [0]. What takes it cannot be computed.",
)
TYPE_CHANGED = Rule(
    "CNV407",
    Severity.NOTE,
    "element type replaced",
    why="UFF has no such type; the one it is written with holds the same values, or rounds them.",
)
TRAINING_RESOLVED = Rule(
    "CNV408",
    Severity.NOTE,
    "training branches taken out",
    why="The graph chooses between training and inference when it runs. What inference does is "
    "kept.",
)

OUTSIDE_CORE = Rule(
    "CNV501",
    Severity.WARNING,
    "operation outside UFF's core",
    why="UFF's core has no such operation. It is written as TensorFlow's, `_<name>`; TensorRT "
    "takes it only where a plugin of that name is there.",
    hint="end the model before it with -O, or compute it outside of TensorRT",
)
BAD_ONNX_GRAPH = Rule(
    "CNV502",
    Severity.ERROR,
    "ONNX graph damaged",
    why="A value is given twice or by nothing, or a node lacks an input. No run time takes it.",
    hint="python3 -m onnx.checker tells more; export the model again",
)
NO_ONNX_VALUE = Rule(
    "CNV503",
    Severity.ERROR,
    "no such value in the model",
    why="Outputs are named as the model's values, or its nodes, are; shapes as its inputs are.",
)
SCALAR_INPUT = Rule(
    "CNV504",
    Severity.WARNING,
    "input that is one number",
    why="An Input of UFF without sizes is one whose shape is not known; readers ask for it.",
    hint="name it where the file is used: --shape NAME=[]",
)
ONNX_OPSET = Rule(
    "CNV505",
    Severity.ERROR,
    "opset of the model not known",
    why="What operators mean depends on the opset. Those from 7 on are known, up to the newest "
    "when this version of ufkit was made.",
    hint='python3 -c "import onnx, onnx.version_converter as v; '
    "onnx.save(v.convert_version(onnx.load('model.onnx'), 17), 'new.onnx')\"",
)

RULES = (
    CANNOT_CONVERT,
    WRONG_PAIR,
    BAD_OPSET,
    REFUSED,
    BAD_ARRAY,
    DIFFERS,
    NOT_FINITE,
    VERIFIED_BY_ONNX,
    UP_TO_FOREIGN,
    CHOSEN,
    ONNX_REFUSED,
    NOT_ALIKE,
    BAD_ONNX,
    BY_NAME,
    AS_CONVERTED,
    BAD_TF,
    NOT_FROZEN,
    NO_TF_NODE,
    STAYS_TF,
    OUTPUTS_GUESSED,
    LOST_CONSTANT,
    TYPE_CHANGED,
    TRAINING_RESOLVED,
    OUTSIDE_CORE,
    BAD_ONNX_GRAPH,
    NO_ONNX_VALUE,
    SCALAR_INPUT,
    ONNX_OPSET,
)
