"""Shapes of all arrays of a net, and the work of its layers: what follows from its inputs.

Sizes are those of Caffe's formulas; see `ufkit.ufw.layers`. What is not known is None: a size that
shows when the net runs, or a whole shape behind a layer of a type that nobody here knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ufkit.core.diag import Diagnostic, FormatError, RequestError, Where
from ufkit.ufw.blob import Blob
from ufkit.ufw.connections import AnyLayer, AnyNet
from ufkit.ufw.layers import LAYERS
from ufkit.ufw.layers.data import opened
from ufkit.ufw.layers.spec import Conflict, LayerType, Shape, Shapes, Size, Use, checked
from ufkit.ufw.net import Layer
from ufkit.ufw.params import told
from ufkit.ufw.shape_rules import NO_INPUT, SHAPES_CONFLICT

GivenShapes = Mapping[str, Sequence[int | str]]  # a name leaves a size open


@dataclass(slots=True)
class LayerShapes:
    """Of one layer: shapes of what it takes and makes, and its multiply-accumulates."""

    bottoms: Shapes
    tops: Shapes
    macs: Size = None


@dataclass(slots=True)
class NetShapes:
    """Of a net.

    layers    in the net's order
    inputs    of what the net takes, by name
    arrays    by name: as the last layer that makes it leaves it
    findings  layers that cannot take what they are given (UFW008), weights that are for
              another size (UFW403), settings that cannot be read
    """

    layers: list[LayerShapes] = field(default_factory=list)
    inputs: dict[str, Shape | None] = field(default_factory=dict)
    arrays: dict[str, Shape | None] = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)


def infer_net(
    net: AnyNet,
    weights: Mapping[str, Layer] | None = None,
    given: GivenShapes | None = None,
) -> NetShapes:
    """All shapes of a net, with weights or as text.

    `weights` has, for a text, the layers of another file by name. `given` has shapes of inputs
    and of what data layers make, in the place of those declared. What does not fit is a finding,
    and what follows from it is not known. Raises RequestError (UFW009) for a name in `given` that
    is none of these, FormatError where the layers cannot be told at all.
    """
    wanted = {name: opened(shape) for name, shape in (given or {}).items()}
    layers = net.layers
    _check_names(net, wanted)
    inputs = {name: wanted.get(name, opened(shape)) for name, shape in net.inputs.items()}
    result = NetShapes(inputs=inputs, arrays=dict(inputs))
    kept: set[str] = set()  # what a layer for use makes is not what one for training makes
    for layer in layers:
        source = weights.get(layer.name) if weights is not None else layer
        blobs = source.blobs if isinstance(source, Layer) else []
        found = _layer(layer, blobs, result)
        if not layer.bottoms:
            named = zip(layer.tops, found.tops, strict=True)
            found.tops = [wanted.get(name, shape) for name, shape in named]
        result.layers.append(found)
        for name, shape in zip(layer.tops, found.tops, strict=True):
            if not (layer.training_only and name in kept):
                result.arrays[name] = shape
            if not layer.training_only:
                kept.add(name)
    return result


def taken_by(net: AnyNet) -> set[str]:
    """Names of what a net takes: its inputs, and what its data layers make."""
    return {*net.inputs, *(top for layer in net.layers if not layer.bottoms for top in layer.tops)}


def _check_names(net: AnyNet, given: Iterable[str]) -> None:
    names = taken_by(net)
    for name in given:
        if name not in names:
            message = f"{name!r} is nothing that it takes; that is {', '.join(sorted(names)[:8])}"
            raise RequestError(NO_INPUT.at(Where(net.source.name), message))


def _layer(layer: AnyLayer, blobs: list[Blob], result: NetShapes) -> LayerShapes:
    bottoms = [result.arrays.get(name) for name in layer.bottoms]
    unknown: Shapes = [None] * len(layer.tops)
    entry = LAYERS.get(layer.type)
    if entry is None:
        return LayerShapes(bottoms, unknown)
    fields = told(layer)
    use = Use(layer, bottoms, [_shape(blob) for blob in blobs], fields, fields)
    try:
        return _understood(entry, use, unknown)
    except Conflict as conflict:
        use.report(SHAPES_CONFLICT, str(conflict))
    except FormatError as error:
        use.findings += error.diagnostics
    finally:
        result.findings += use.findings
    return LayerShapes(bottoms, unknown)


def _understood(entry: LayerType, use: Use, unknown: Shapes) -> LayerShapes:
    if entry.takes and not use.inputs:  # some files keep weights only, and no connections
        return LayerShapes([], unknown)
    use.param = use.told.part(entry.parameter) if entry.parameter else use.param
    if len(use.inputs) < entry.takes:
        use.conflict(f"a {entry.name} takes {entry.takes} arrays; this one has {len(use.inputs)}")
    made = [checked(shape) for shape in entry.shapes(use)][: len(unknown)]
    first = made[0] if made else None
    macs = entry.macs(use, first) if entry.macs and first is not None else None
    return LayerShapes([*use.inputs], [*made, *unknown[len(made) :]], macs)


def _shape(blob: Blob) -> tuple[int, ...] | None:
    try:
        return blob.shape
    except FormatError:
        return None  # `check` has a finding about it
