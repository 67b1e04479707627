"""Files made to harm: only our own errors come out, in little time and memory.

One module here per idea; its `cases` yields files. `worker.py` runs them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from attacks.worker import HERE, IDEAS

pytestmark = pytest.mark.timeout(900)  # all ideas run for the first test: over a minute


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Any]]:
    """What became of each idea."""
    environment = {
        **os.environ,
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": str(HERE.parents[1] / "src"),
    }
    done = subprocess.run(
        [sys.executable, HERE / "worker.py"], capture_output=True, text=True, env=environment
    )
    found = {result["idea"]: result for result in map(json.loads, done.stdout.splitlines())}
    assert found.keys() == set(IDEAS), done.stderr[-2000:]
    return found


@pytest.mark.parametrize("idea", IDEAS)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits and /proc are Linux's")
def test_attack(idea: str, results: dict[str, dict[str, Any]]) -> None:
    assert results[idea]["ok"], results[idea]["text"]
