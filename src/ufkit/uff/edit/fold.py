"""What follows from constants, computed once and kept as constants."""

from __future__ import annotations

from dataclasses import dataclass, field

from ufkit.core.dtypes import DTYPES
from ufkit.core.render import plural
from ufkit.uff.branches import RESOLVED
from ufkit.uff.const import constant
from ufkit.uff.edit.editor import Editor
from ufkit.uff.edit.sweep import Swept, sweep
from ufkit.uff.fold import Folding
from ufkit.uff.infer import Inference, infer
from ufkit.uff.model import Graph
from ufkit.uff.ops.spec import Array


@dataclass(slots=True)
class Folded:
    """Ids of the nodes that became constants, of training leftovers taken out; what went."""

    constants: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    swept: Swept = field(default_factory=Swept)

    def __str__(self) -> str:
        parts = [f"{plural(len(self.constants), 'constant')} computed"]
        if self.leftovers:
            parts.append(f"{plural(len(self.leftovers), 'training leftover')} resolved")
        return f"{', '.join(parts)}; taken out: {self.swept}"


def fold(graph: Graph) -> Folded:
    """Compute what follows from constants alone; the results take the place of the nodes.

    Sizes that are known are constants too. Conditionals left from training become the branch that
    inference takes. Results are bounded by 16 MiB beside the size of the file. What nothing needs
    afterwards is taken out.
    Raises FormatError where there is no order of computation, or constants do not fit.
    """
    inference = infer(graph)
    editor = Editor(graph)
    report = Folded(leftovers=_resolve(editor, inference))
    values = _values(inference)
    for id_, value in values.items():
        if id_ in graph and any(taker.id not in values for taker in editor.takers(id_)):
            editor.set_const(editor.replace(id_, "Const", ()), value)
            report.constants.append(id_)
    report.swept = sweep(graph)
    return report


def _resolve(editor: Editor, inference: Inference) -> list[str]:
    """Take out the conditionals; who took one takes what it passes on at inference."""
    graph, resolved = editor.graph, inference.graph
    leftovers = [
        node.id
        for node in graph
        if node.operation in RESOLVED and resolved[node.id].operation not in RESOLVED
    ]
    for id_ in leftovers:
        editor.replace(id_, resolved[id_].operation, resolved[id_].inputs)
    outputs = set(graph.outputs)  # these keep their ids
    editor.remove(*[id_ for id_ in leftovers if id_ not in outputs])
    return leftovers


def _values(inference: Inference) -> dict[str, Array]:
    """By id, the values that follow from constants, the constants themselves left out."""
    folding = Folding(inference.graph.meta)
    constants: dict[str, Array] = {}
    computed: dict[str, Array] = {}
    for node in inference.graph.needed():
        facts = inference.facts[node.id]
        if facts.shape is None or facts.dtype not in DTYPES:
            continue
        sources = [computed.get(id_, constants.get(id_)) for id_ in node.inputs]
        known = [source for source in sources if source is not None]
        if node.operation == "Const":
            tensor = constant(node)
            if not tensor.problem:
                constants[node.id] = tensor.numpy()
        elif facts.value is not None and facts.value.dtype != object:
            computed[node.id] = facts.value.astype(facts.dtype.numpy)
        elif known and len(known) == len(sources):
            value = folding.value(node, facts, known)
            if value is not None:
                computed[node.id] = value
    return computed
