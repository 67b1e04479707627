"""What nobody needs, taken out."""

from __future__ import annotations

from dataclasses import dataclass, field

from ufkit.core.render import plural
from ufkit.uff.model import OUTPUT_OPERATION, Graph, MetaGraph


@dataclass(slots=True)
class Swept:
    """Ids of the nodes that were taken out, and names of the data."""

    nodes: list[str] = field(default_factory=list)
    data: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        nodes, data = plural(len(self.nodes), "node"), plural(len(self.data), "data item")
        return f"{nodes} and {data} that nothing needs"


def sweep(graph: Graph) -> Swept:
    """Take out the nodes that no output needs, and the data of the file that nothing refers to.

    Raises FormatError as `sweep_nodes`.
    """
    return Swept(sweep_nodes(graph), sweep_data(graph.meta))


def sweep_nodes(graph: Graph) -> list[str]:
    """Take out the nodes that no output needs; the ids they had.

    Raises FormatError where it cannot be told what is needed: no output (UFF104), a missing
    input (UFF102), a cycle (UFF103).
    """
    needed = {node.id for node in graph.needed()}
    gone = [n for n in graph if n.id not in needed and n.operation != OUTPUT_OPERATION]
    if gone:
        graph.remove(*gone)
    return [node.id for node in gone]


def sweep_data(meta: MetaGraph) -> list[str]:
    """Take out the data that nothing refers to, other data included; the names it had."""
    counts = meta.references()
    unused = [name for name in meta.referenced_data if not counts[name]]
    for name in unused:  # grows meanwhile, by what only unused data refers to
        data = meta.referenced_data.data(name)
        if data.which("type") == "ref":
            target = data.get("ref")
            counts[target] -= 1
            if not counts[target] and target in meta.referenced_data:
                unused.append(target)
    if unused:
        meta.referenced_data.discard(set(unused))
    return unused
