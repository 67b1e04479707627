"""Fixtures every test may use."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# A slow machine is no bug. With CI set, hypothesis takes its own profile: fixed examples.
settings.register_profile("local", deadline=None)
if not os.environ.get("CI"):
    settings.load_profile("local")


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real files beside the repository; the test is skipped where it is not."""
    folder = ROOT.parent / "shared" / "corpus"
    if not folder.is_dir():
        pytest.skip(f"../shared/corpus is not here: no folder {folder}")
    return folder
