"""Rules of the drop-ins for NVIDIA's tools."""

from ufkit.core.diag import Rule, Severity

NO_GRAPH = Rule(
    "CMP001",
    Severity.ERROR,
    "not a TensorFlow graph",
    why="Graphs are GraphDefs, their bytes, files of them, or other graphs of graphsurgeon.",
    hint="give the path of the frozen .pb",
)
NO_NODE = Rule(
    "CMP002",
    Severity.ERROR,
    "node is not in the graph",
    why="What was asked of a node of that name was not done, and nothing else of the same call.",
    hint="convert-to-uff -l lists the nodes; names differ between versions of TensorFlow",
)
BAD_ATTRIBUTE = Rule(
    "CMP003",
    Severity.ERROR,
    "no value of a node",
    why="Attributes are int, float, bool, str, lists of int or float, element types and arrays.",
)
BAD_SCRIPT = Rule(
    "CMP004",
    Severity.ERROR,
    "preprocessor failed",
    why="The script that -p names is run as Python, and its `preprocess` is handed the graph.",
)
TENSORFLOW_WANTED = Rule(
    "CMP005",
    Severity.ERROR,
    "script imports TensorFlow",
    why="It is not installed, and few scripts need more of it than the names of types.",
    hint="in the script, put `import ufkit_compat.tensorflow as tf` in place of it",
)
NO_TENSORBOARD = Rule(
    "CMP006",
    Severity.ERROR,
    "no TensorBoard files",
    why="They are made by TensorFlow, which is not used here.",
    hint="write the graph with .write('graph.pb'); Netron shows it",
)
BAD_INPUT = Rule(
    "CMP007",
    Severity.ERROR,
    "input is not described",
    why="An input that takes a node's place needs its name, element type and shape.",
    hint="name,new_name,dtype,dim1,dim2,... such as image,input,float32,-1,28,28,1",
)

RULES = (
    NO_GRAPH,
    NO_NODE,
    BAD_ATTRIBUTE,
    BAD_SCRIPT,
    TENSORFLOW_WANTED,
    NO_TENSORBOARD,
    BAD_INPUT,
)
