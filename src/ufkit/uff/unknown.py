"""What is said of an operation that has no entry in the table.

Some are known all the same: they belong to training, or to TensorFlow's run time, and a graph
that is fit for use has none of them where an output needs its value.
"""

from __future__ import annotations

from dataclasses import dataclass

from ufkit.core.diag import Diagnostic, Rule
from ufkit.uff.model import Node
from ufkit.uff.rules import CUSTOM_OPERATION, LEFTOVER, NO_VALUE, UNKNOWN_OPERATION

VALUELESS = frozenset({"_NoOp", "_Assert"})
# How a node is reported that can be carried over as it is, if anything can be made of it.
UNKNOWN: frozenset[Rule] = frozenset({CUSTOM_OPERATION, UNKNOWN_OPERATION, LEFTOVER})

_CUT = "cut it off with `ufkit edit --extract`, or mark the node before it as the output"
_FREEZE = "freeze the graph, so that its variables become constants, and convert it again"
_UNROLL = "build the graph without loops and calls, or cut them off with `ufkit edit --extract`"
_FEED = "make what it gives an input of the graph, with `ufkit edit --extract`"


@dataclass(frozen=True, slots=True)
class _Kind:
    """Operations that are out of place for one reason."""

    does: str
    hint: str
    names: frozenset[str]
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        """Whether an operation, without its `_`, is of this kind."""
        return name in self.names or name.startswith(self.first) or name.endswith(self.last)


def _kind(does: str, hint: str, names: str, first: str = "", last: str = "") -> _Kind:
    words = (tuple(text.split()) for text in (first, last))
    return _Kind(does, hint, frozenset(names.split()), *words)


_KINDS = (
    _kind(
        "computes a loss",
        _CUT,
        "SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits CTCLoss CTCLossV2",
        last="CandidateSampler",
    ),
    _kind(
        "computes gradients",
        _CUT,
        "BroadcastGradientArgs SymbolicGradient",
        "Conv2DBackprop Conv3DBackprop DepthwiseConv2dNativeBackprop",
        "Grad GradV2 GradV3 Gradient GradGrad GradWithArgmax",
    ),
    _kind(
        "changes variables",
        _CUT,
        "StridedSliceAssign ScatterAdd ScatterSub ScatterUpdate MergeV2Checkpoints",
        "Apply SparseApply ResourceApply ResourceSparseApply Assign ResourceScatter Save Restore",
    ),
    _kind(
        "draws random numbers",
        _CUT,
        "Multinomial StatelessMultinomial",
        "Random Truncated Parameterized StatelessRandom StatelessTruncated",
    ),
    _kind(
        "is a variable",
        _FREEZE,
        "Variable VariableV2 TemporaryVariable VarHandleOp VarIsInitializedOp",
    ),
    _kind(
        "is of a loop or a call",
        _UNROLL,
        "Enter RefEnter Exit RefExit NextIteration RefNextIteration LoopCond While StatelessWhile "
        "If StatelessIf Case For PartitionedCall StatefulPartitionedCall",
        "TensorArray TensorList",
    ),
    _kind(
        "reads or prepares data",
        _FEED,
        "PyFunc PyFuncStateless EagerPyFunc ReadFile OneShotIterator MakeIterator Stage Unstage "
        "AudioSpectrogram Mfcc",
        "Iterator Queue FIFOQueue PaddingFIFOQueue RandomShuffleQueue Decode Encode Parse Reader "
        "HashTable MutableHashTable LookupTable String",
        "Dataset DatasetV2 ReaderV2",
    ),
)


def unknown(node: Node) -> Diagnostic:
    """What to say of a node whose operation has no entry, where its value is needed."""
    name = node.operation
    if name in VALUELESS:
        return NO_VALUE.at(node.where(), f"{name} has no value, and one is needed")
    for kind in _KINDS:
        if name.startswith("_") and kind.has(name[1:]):
            return LEFTOVER.at(node.where(), f"{name} {kind.does}", hint=kind.hint)
    rule = CUSTOM_OPERATION if name.startswith("_") else UNKNOWN_OPERATION
    return rule.at(node.where(), f"operation {name!r} is not known here")
