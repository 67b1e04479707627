"""Imports point down: a package imports only lower bands, never a sibling.

The drop-ins for NVIDIA's tools, a wheel of their own in `compat/`, lie on top.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "ufkit"

BANDS = (
    ("core",),
    ("wire",),
    ("uff", "ufw"),
    ("conversion", "datasets"),
    ("viewer",),
    ("cli",),
)
RANK = {name: rank for rank, band in enumerate(BANDS) for name in band}
TOP = ("__init__", "__main__")  # may import anything; only `cli` may import them

# Third-party packages only one of ours may import, wherever in the file.
OWNER = {"onnx": "conversion", "onnxruntime": "conversion"}

# Never loaded by `import ufkit` or `import ufkit.cli`: every command would pay for them.
HEAVY = ("numpy", "onnx", "onnxruntime", "rich")

# The packages of the second wheel, each above those before it, and what they may name of ufkit.
DROP_INS = ("ufkit_compat", "graphsurgeon", "uff", "ufwio")
BELOW_DROP_INS = ("core", "wire", "uff", "ufw", "conversion")
NOT_IN_DROP_INS = ("tensorflow", "onnx", "onnxruntime", "google")

_BY_NAME = {"__import__", "import_module", "need"}  # calls that import what a string names


def imports(path: Path, root: Path) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of everything a file imports, at any depth.

    `from a import b` yields `a.b`: whether b is a module is for the caller to see.
    """
    package = [root.name, *path.relative_to(root).parent.parts]
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = package[: len(package) - level + 1] if level else []
                base = [*base, *([module] if module else [])]
                yield from ((node.lineno, ".".join([*base, alias.name])) for alias in names)
            case ast.Call(
                func=ast.Name(id=name) | ast.Attribute(attr=name),
                args=[ast.Constant(value=str(target)), *_],
            ) if name in _BY_NAME:
                yield node.lineno, target


def violations(root: Path) -> Iterator[str]:
    """What a package tree does against BANDS and OWNER, one line each."""

    def unit(parts: tuple[str, ...]) -> str:
        """The band member, or top-level module, that a dotted name or path lies in."""
        name = parts[0] if parts else "__init__"
        known = name in RANK or (root / name).is_dir() or (root / f"{name}.py").is_file()
        return name if known else "__init__"  # a name that `__init__` defines or re-exports

    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root)
        me = unit(inside.with_suffix("").parts)
        if me not in RANK and me not in TOP:
            yield f"{inside}: {me} is in no band"
            continue
        for line, target in imports(path, root):
            first, *rest = target.split(".")
            at = f"{inside}:{line}: {me} imports {target}"
            if OWNER.get(first, me) != me:
                yield f"{at}, which only {OWNER[first]} may"
            elif first == root.name and me not in TOP:
                other = unit(tuple(rest))
                if other in TOP:
                    if me != "cli":
                        yield f"{at}: only cli may import {root.name} itself"
                elif other not in RANK:
                    yield f"{at}: {other} is in no band"
                elif other != me and RANK[other] >= RANK[me]:
                    kind = "a sibling" if RANK[other] == RANK[me] else "above"
                    yield f"{at}: {other} is {kind}"


def drop_in_violations(root: Path) -> Iterator[str]:
    """What the packages in a folder do against DROP_INS, one line each."""
    for rank, package in enumerate(DROP_INS):
        for path in sorted((root / package).rglob("*.py")):
            for line, target in imports(path, root / package):
                first, second, *_ = *target.split("."), ""
                at = f"{path.relative_to(root)}:{line}: imports {target}"
                if first in NOT_IN_DROP_INS:
                    yield f"{at}, which none of them may"
                elif first in DROP_INS[rank + 1 :]:
                    yield f"{at}: {first} is above"
                elif first == PACKAGE.name and second not in BELOW_DROP_INS:
                    yield f"{at}, which is not below"


def loaded(statement: str, names: tuple[str, ...], path: Path) -> list[str]:
    """Which of these modules a fresh interpreter has loaded after one statement."""
    code = f"{statement}\nimport sys\nprint(*(n for n in {names!r} if n in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_imports_point_down() -> None:
    assert list(violations(PACKAGE)) == []


def test_drop_ins_lie_on_top() -> None:
    assert list(drop_in_violations(ROOT / "compat" / "src")) == []
    for path in PACKAGE.rglob("*.py"):
        named = {target.split(".")[0] for _, target in imports(path, PACKAGE)}
        assert not named & set(DROP_INS), f"{path} imports a drop-in"


@pytest.mark.parametrize("module", ["ufkit", "ufkit.cli"])
def test_start_is_light(module: str) -> None:
    path = PACKAGE.parent.joinpath(*module.split("."))
    if not (path / "__init__.py").is_file() and not path.with_suffix(".py").is_file():
        pytest.skip(f"there is no {module} yet")
    assert loaded(f"import {module}", HEAVY, PACKAGE.parent) == []


# The checker, checked.

GOOD = {
    "__init__.py": "from demo.cli import main\nimport demo.conversion",
    "__main__.py": "from demo.cli import main",
    "core/__init__.py": "import os",
    "core/diag.py": "from demo.core import other\nfrom . import files\nfrom .files import x",
    "wire/__init__.py": "from demo import core\nimport demo.core.diag",
    "uff/ops/conv.py": "from demo.uff.ops import pool\nfrom ...wire import reader\nimport numpy",
    "conversion/a.py": "import onnx.helper\ndef f():\n    need('onnxruntime', extra='run')",
    "cli/__init__.py": "from demo import __version__, uff\nimport demo",
}
BAD = [
    ("core/a.py", "import demo.wire", "wire is above"),
    ("core/a.py", "from demo import wire", "wire is above"),
    ("core/a.py", "from demo.wire.reader import fields", "wire is above"),
    ("core/a.py", "def f():\n    import demo.cli", "cli is above"),
    ("core/a.py", "if TYPE_CHECKING:\n    from demo.uff import Graph", "uff is above"),
    ("core/a.py", "from .. import wire", "wire is above"),
    ("core/a.py", "from ..wire import reader", "wire is above"),
    ("core/b/__init__.py", "from ...wire import reader", "wire is above"),
    ("core/a.py", "importlib.import_module('demo.conversion')", "conversion is above"),
    ("uff/a.py", "import demo.ufw", "ufw is a sibling"),
    ("datasets/a.py", "from demo.conversion import x", "conversion is a sibling"),
    ("uff/a.py", "import demo", "only cli may"),
    ("uff/a.py", "from demo import load", "only cli may"),
    ("viewer/a.py", "from demo import load", "only cli may"),
    ("uff/a.py", "def f():\n    import onnx", "which only conversion may"),
    ("cli/a.py", "from onnxruntime import InferenceSession", "which only conversion may"),
    ("cli/a.py", "need('onnxruntime', extra='run')", "which only conversion may"),
    ("__init__.py", "import onnx", "which only conversion may"),
    ("utils.py", "", "utils is in no band"),
    ("extra/a.py", "", "extra is in no band"),
]


def tree(folder: Path, files: dict[str, str]) -> Path:
    root = folder / "demo"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def test_checker_accepts(tmp_path: Path) -> None:
    assert list(violations(tree(tmp_path, GOOD))) == []


@pytest.mark.parametrize(("name", "text", "expected"), BAD)
def test_checker_refuses(tmp_path: Path, name: str, text: str, expected: str) -> None:
    found = list(violations(tree(tmp_path, {**GOOD, name: text})))
    assert len(found) == 1
    assert found[0].startswith(name)
    assert expected in found[0]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("graphsurgeon/a.py", "import uff", "uff is above"),
        ("ufkit_compat/a.py", "from graphsurgeon import x", "graphsurgeon is above"),
        ("uff/a.py", "from ufkit.cli import app", "not below"),
        ("uff/a.py", "import ufkit", "not below"),
        ("graphsurgeon/a.py", "def f():\n    import tensorflow as tf", "none of them may"),
    ],
)
def test_drop_in_checker_refuses(tmp_path: Path, name: str, text: str, expected: str) -> None:
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text(text, "utf-8")
    (found,) = drop_in_violations(tmp_path)
    assert expected in found


def test_start_checker_sees_nested_imports(tmp_path: Path) -> None:
    files = {"__init__.py": "import demo.cli", "cli/__init__.py": "import json.tool, this_one"}
    tree(tmp_path, files)
    (tmp_path / "this_one.py").touch()
    names = ("json", "this_one", "sqlite3")
    assert loaded("import demo", names, tmp_path) == ["json", "this_one"]
