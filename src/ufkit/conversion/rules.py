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

ONNX_REFUSED = Rule(
    "CNV201",
    Severity.ERROR,
    "ONNX model refused",
    why="The engine that runs ONNX models does not take this one, or fails on these inputs.",
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
    ONNX_REFUSED,
)
