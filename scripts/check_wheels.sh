#!/usr/bin/env bash
# Builds both wheels, installs them into an empty environment, and uses what they bring there.
#
#   bash scripts/check_wheels.sh [PYTHON]
#
# PYTHON needs pip; it and the environment fetch what the wheels depend on.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
python=${1:-python3}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore
unset PYTHONHOME PYTHONPATH

"$python" -m pip wheel -q --no-deps -w "$work/wheels" "$root" "$root/compat"
"$python" -m venv --without-pip "$work/env"
env=$work/env/bin/python
"$python" -m pip --python "$env" install -q "$work"/wheels/*.whl

cd -- "$work" # not where the sources are
"$env" - <<'END'
from importlib.metadata import distributions
from importlib.util import find_spec

installed = {dist.metadata["Name"].lower() for dist in distributions()}
assert {"ufkit", "ufkit-compat"} <= installed, installed
assert not {name for name in installed if "tensorflow" in name}, installed
assert find_spec("tensorflow") is None

import graphsurgeon as gs
import numpy as np
import uff
import ufkit_compat.tensorflow as tf
import ufwio

assert ufwio.LMDB_Dataset
graph = gs.DynamicGraph()
graph.append(gs.create_node("x", op="Placeholder", dtype=tf.float32, shape=[-1, 4]))
graph.append(gs.create_node("w", op="Const", value=np.eye(4, dtype=np.float32)))
graph.append(gs.create_node("y", op="MatMul", inputs=["x", "w"]))
graph.write("frozen.pb")
assert uff.from_tensorflow(graph.as_graph_def(), ["y"], quiet=True)
END
"$work/env/bin/convert-to-uff" frozen.pb -O y -t
"$env" "$("$env" -c 'import uff; print(uff.__path__[0])')/bin/convert_to_uff.py" frozen.pb -l -q
"$work/env/bin/ufkit" check frozen.uff
test -s frozen.pbtxt
