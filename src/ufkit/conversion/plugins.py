"""TensorRT plugins as ONNX nodes that TensorRT's parser makes the plugins of again.

It looks for a plugin of the name of the node's operator, with the version and namespace that the
node's attributes give, and reads the plugin's own fields from the attributes of their names:
https://github.com/onnx/onnx-tensorrt/blob/main/docs/operators.md
"""

from __future__ import annotations

import re
from typing import Any

from ufkit.conversion import custom
from ufkit.uff.model import Node
from ufkit.uff.ops import entry_of

DOMAIN = "trt.plugins"  # the one under which ONNX Runtime's TensorRT provider knows them as well

# graphsurgeon put the kind behind each name: `inputOrder_u_ilist`
_SUFFIX = re.compile(r"_u_(?:int|float|str|bool|[ifsb]list)$")


def is_plugin(node: Node) -> bool:
    """Whether an operation is one of TensorRT's plugins, known here or not."""
    spec = entry_of(node)
    if spec is not None:
        return spec.plugin is not None
    named = node.operation.startswith("_") and node.operation.endswith("_TRT")
    return named or any(_SUFFIX.search(name) for name in node.fields)


def attributes(node: Node) -> dict[str, Any]:
    """The plugin's fields under its own names; `dtype`, which no plugin asks for, left out."""
    found = {_SUFFIX.sub("", name): value for name, value in custom.attributes(node).items()}
    found.pop("dtype", None)
    return {"plugin_version": "1", "plugin_namespace": "", **found}
