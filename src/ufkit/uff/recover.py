"""What is left of a damaged UFF file, as a file of its own, and what was lost."""

from __future__ import annotations

import contextlib
import itertools
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ufkit.core.diag import Diagnostic, Severity, Where
from ufkit.core.files import Padded, PathLike, Source, Span
from ufkit.core.render import plural
from ufkit.uff.build import spelt
from ufkit.uff.const import constant
from ufkit.uff.data import DataMap, data_of
from ufkit.uff.io import TEXT_ALIASES, refusal, source_of
from ufkit.uff.io import open as open_uff
from ufkit.uff.model import MAIN, OUTPUT_OPERATION, Graph, MetaGraph
from ufkit.uff.rules import EMPTY
from ufkit.uff.schema import GRAPH, METAGRAPH
from ufkit.uff.work_rules import BYTES_LOST, CONSTANT_CUT, PART_MISSING, PUT_IN
from ufkit.wire.cut import Open
from ufkit.wire.landmarks import Layout
from ufkit.wire.message import Message
from ufkit.wire.salvage import Salvage, salvage
from ufkit.wire.sniff import (
    CAFFE_NET,
    ONNX,
    TF_GRAPH,
    UFF,
    UFF_JSON,
    UFF_TEXT,
    UNKNOWN,
    Kind,
    identify,
)
from ufkit.wire.sniff import EMPTY as EMPTY_FILE
from ufkit.wire.text import parse_text_start

LAYOUT = Layout(
    METAGRAPH,
    METAGRAPH.fields["graphs"],
    (
        (GRAPH.fields["nodes"], ("id", "operation")),
        (METAGRAPH.fields["referenced_data"], ("key", "value")),
    ),
)
# Where the first bytes are not those of a UFF, what no schema knows is not believed.
_DAMAGED_HEAD = replace(LAYOUT, strangers=0)
# What a UFF may be taken for when its first bytes were changed.
_IN_DOUBT = (UNKNOWN, ONNX, TF_GRAPH, CAFFE_NET)
_ORDERS = "orders_"
_NAMES = ("weights_", _ORDERS)  # what names of referenced data begin with in every file seen
_VERSIONS = ("version", "descriptor_core_version")


@dataclass(frozen=True)
class Recovered:
    """A file that was recovered.

    meta         what is left, to be given to `save`; it stays in the damaged file until then
    lost         the bytes that are in no part of it: begin and end of each range
    diagnostics  what was lost and what was put in its place
    """

    meta: MetaGraph
    lost: tuple[tuple[int, int], ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was lost."""
        return all(item.severity is not Severity.ERROR for item in self.diagnostics)


def recover(path: PathLike | Source, *, mmap: bool = True) -> Recovered:
    """What is intact in a UFF file that was cut short or damaged.

    Nodes and entries of `referenced_data` come whole or not at all, wherever the damage is; only
    a constant that the end of the file cuts through is filled up with zeros when at least half of
    it is there. An undamaged file comes back as it is. Values that were changed in place cannot
    be told from others. Of a text all that stands before the damage is kept; JSON must be whole.
    Raises FileError when it cannot be read; FormatError that says what the file is when nothing
    in it is UFF (UFF001), or where a JSON form is wrong.
    """
    source = source_of(path, mmap=mmap)
    kind = identify(source)
    if kind is UFF_TEXT:
        return _from_text(source)
    if kind is UFF_JSON:
        return Recovered(open_uff(source), (), ())
    if kind not in (UFF, EMPTY_FILE, *_IN_DOUBT):
        raise refusal(source, kind)
    found = salvage(source, LAYOUT if kind is UFF else _DAMAGED_HEAD)
    meta = MetaGraph(found.message, source)
    if kind in _IN_DOUBT and not _is_uff(meta, kind, found):
        raise refusal(source, kind)
    if found.intact and kind not in _IN_DOUBT:  # what begins like no UFF has lost its beginning
        return Recovered(meta, (), tuple(_missing(meta)))
    put_in = [*_put_in(meta, found)]
    filled_up = [*_cut_constant(meta, found)]
    lost = tuple(_without_cut(found)) if filled_up else found.lost
    findings = (*_lost(meta, lost, found.cut), *filled_up, *_missing(meta), *put_in)
    return Recovered(meta, lost, findings)


def _without_cut(found: Salvage) -> Iterator[tuple[int, int]]:
    """What is lost in front of the part that the file ends in."""
    end = found.cut[0].start if found.cut else 0
    yield from ((start, min(stop, end)) for start, stop in found.lost if start < end)


def _is_uff(meta: MetaGraph, kind: Kind, found: Salvage) -> bool:
    """Whether what was found in a file that does not begin like a UFF makes it one."""
    if any(len(graph) for graph in meta.graphs):
        return True
    if any(name.startswith(_NAMES) for name in meta.referenced_data):
        return True
    return kind is UNKNOWN and bool(found.cut) and found.lost[0][0] == 0  # its first bytes


def _from_text(source: Source) -> Recovered:
    message, fault, stop = parse_text_start(source, METAGRAPH, GRAPH, aliases=TEXT_ALIASES)
    meta = MetaGraph(message, source)
    if fault is None:
        return Recovered(meta, (), ())
    lost = (stop, source.size)
    line = fault.located(source).diagnostic.where.line
    where = Where(source.name, start=lost[0], stop=lost[1], line=line)
    text = f"the last {plural(lost[1] - lost[0], 'byte')} are lost: {fault.message}"
    return Recovered(meta, (lost,), (BYTES_LOST.at(where, text), *_missing(meta)))


# -- what is put in --------------------------------------------------------------------------


def _put_in(meta: MetaGraph, found: Salvage) -> Iterator[Diagnostic]:
    """What readers cannot do without."""
    where = meta.where()
    for name in _VERSIONS:
        if not meta.message.has(name):
            meta.message.set(name, 1)
            yield PUT_IN.at(where, f"{name} is 1, as in every known file")
    taken = {graph.id for graph in meta.graphs}
    names = filter(lambda name: name not in taken, _graph_names())
    for graph in meta.graphs:
        if not graph.message.has("id"):
            graph.id = next(names)
            graph.message.set("id", graph.id)
            text = f"a graph of {len(graph)} nodes has lost its id; it is called {graph.id!r}"
            yield PUT_IN.at(where, text)
    yield from _orders(meta)
    for at in found.misfits:
        text = "the length given here did not fit what follows; it was counted anew"
        yield PUT_IN.at(Where(where.file, start=at), text)


def _orders(meta: MetaGraph) -> Iterator[Diagnostic]:
    """Axis orders that were lost, as their names spell them."""
    for name in _takers(meta):
        spelling = name.removeprefix(_ORDERS)
        if name in meta.referenced_data or not spelling or spelling == name:
            continue
        with contextlib.suppress(KeyError):  # a name that spells nothing
            _, meta.referenced_data[name] = spelt(spelling)["inputs_orders"]
            yield PUT_IN.at(meta.where(), f"{name!r} is what its name says")


def _graph_names() -> Iterator[str]:
    yield MAIN
    yield from (f"{MAIN}_{number}" for number in itertools.count(1))


def _cut_constant(meta: MetaGraph, found: Salvage) -> Iterator[Diagnostic]:
    """Fill up the constant that the file ends in."""
    cut = found.cut or ()
    if [each.field.name for each in cut] != ["referenced_data", "value", "blob"]:
        return
    blob = cut[-1]
    size, there = blob.stop - blob.value, meta.source.size - blob.value
    entry = Message(cut[0].field.type, Span(meta.source, cut[0].value, cut[1].start))
    key = entry.get("key")
    if 2 * there < size or not key or key in meta.referenced_data:
        return
    padded = Padded(meta.source, blob.value, meta.source.size, size - there)
    meta.referenced_data[key] = data_of(padded, "blob")
    if _misfits(meta, key):
        del meta.referenced_data[key]
        return
    where = Where(meta.source.name, field=key, start=blob.value, stop=meta.source.size)
    text = f"the file ends after {there:,} of the {size:,} bytes of {key!r}"
    yield CONSTANT_CUT.at(where, text)


def _misfits(meta: MetaGraph, key: str) -> bool:
    """Whether a constant whose data this is says that it has another size."""
    return any(
        constant(node).problem is not None
        for graph in meta.graphs
        for node in graph
        if node.operation == "Const" and key in _references(node.fields)
    )


# -- what is lost ----------------------------------------------------------------------------


def _lost(
    meta: MetaGraph, lost: tuple[tuple[int, int], ...], cut: tuple[Open, ...] | None
) -> Iterator[Diagnostic]:
    name, size = meta.source.name, meta.source.size
    if not size:
        yield EMPTY.at(Where(name), "the file is empty, 0 bytes")
        return
    ends = sorted(_ends(meta))
    for start, stop in lost:
        before = bisect(ends, (start, "\U0010ffff"))
        behind = f"behind {ends[before - 1][1]}" if before else "at the beginning"
        text = f"{plural(stop - start, 'byte')} {behind} can be read as no node and no data"
        if cut is not None and stop == size:
            text += ": the file ends in the middle of them"
        yield BYTES_LOST.at(Where(name, start=start, stop=stop), text)


def _ends(meta: MetaGraph) -> Iterator[tuple[int, str]]:
    """Where each survivor ends in the damaged file."""
    for graph in meta.graphs:
        for node in graph:
            yield node.message.span.stop, f"node {node.id!r}"
    for entry in meta.referenced_data.entries():
        if entry.span.source is meta.source:
            yield entry.span.stop, f"data {entry.get('key')!r}"


def _missing(meta: MetaGraph) -> Iterator[Diagnostic]:
    """What survivors name and is not among them."""
    if not any(len(graph) for graph in meta.graphs):
        yield PART_MISSING.at(meta.where(), "there is no node in it")
    for graph in meta.graphs:
        yield from _missing_nodes(graph)
    for name, ids in _takers(meta).items():
        if name not in meta.referenced_data:
            text = f"data {name!r} is named by {_shown(ids)} and is not there"
            yield PART_MISSING.at(Where(meta.source.name, field=name), text)


def _takers(meta: MetaGraph) -> dict[str, list[str]]:
    """For each name of data that is referred to, by what."""
    takers: dict[str, list[str]] = {}
    for graph in meta.graphs:
        for node in graph:
            for name in (*_references(node.fields), *_references(node.extra_fields)):
                takers.setdefault(name, []).append(node.id)
    for name in _references(meta.referenced_data):
        takers.setdefault(name, []).append(name)
    return takers


def _missing_nodes(graph: Graph) -> Iterator[Diagnostic]:
    for id_, takers in graph.consumers().items():
        if id_ not in graph:
            ids = [node.id for node in takers]
            text = f"node {id_!r} is named by {_shown(ids)} and is not there"
            yield PART_MISSING.at(Where(graph.meta.source.name, f"{graph.id}/{id_}"), text)
    if len(graph) and not graph.outputs:
        text = f"graph {graph.id!r} has no {OUTPUT_OPERATION}: it does not say what its results are"
        hint = f"graph.add('MarkOutput_0', {OUTPUT_OPERATION!r}, [ID]) in Python names one"
        yield PART_MISSING.at(graph.where(), text, hint=hint)


def _references(entries: DataMap) -> list[str]:
    """Names of data that values of a map refer to."""
    found = (entries.data(key) for key in entries)
    return [data.get("ref") for data in found if data.which("type") == "ref"]


def _shown(ids: list[str]) -> str:
    more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
    return f"{ids[0]!r}{more}"
