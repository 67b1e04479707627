"""Generated pages are up to date, and the rules they list are well formed."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from make_docs import BANDS, PAGES  # noqa: E402

from ufkit.core.diag import Rule  # noqa: E402

RULES = [rule for _, _, rules in BANDS for rule in rules]


def test_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "make_docs.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_stale_page_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import make_docs

    monkeypatch.setattr(make_docs, "DOCS", tmp_path)
    assert make_docs.main(check=False) == 0
    assert make_docs.main(check=True) == 0
    (tmp_path / "errors.md").write_text("old")
    assert make_docs.main(check=True) == 1
    assert set(PAGES) == {path.name for path in tmp_path.iterdir()}


def test_codes_are_unique() -> None:
    codes = [rule.code for rule in RULES]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize(("title", "source", "rules"), BANDS, ids=[band[0] for band in BANDS])
def test_every_rule_of_a_module_is_listed(title: str, source: str, rules: tuple[Rule, ...]) -> None:
    module = importlib.import_module(source.rpartition("src/")[2][:-3].replace("/", "."))
    made = [value for value in vars(module).values() if isinstance(value, Rule)]
    assert sorted(rule.code for rule in made) == sorted(rule.code for rule in rules), title
