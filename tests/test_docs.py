"""Every code block of the documentation runs, or says why not.

In README.md, CONTRIBUTING.md and docs/:

- ```python blocks are executed; the blocks of one file share their names.
- ```console, ```bash and ```sh blocks: each line that begins with `$ ` is run by bash and must
  exit 0, or with N where it ends in `# exit N`. A backslash at the end continues the line. With
  the word `check` after the language, the lines below must be what it prints (stdout and stderr
  together); a line `...` stands for any number of lines.
- `<!-- not run: REASON -->` on the line before a block leaves it out.

The blocks of one file run in order in one temporary folder, which holds a copy of examples/.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md")))
    if page.is_file()
]

SHELL = {"bash", "console", "sh"}
MEANT = {  # would silently not run
    "py": "python",
    "pycon": "python",
    "python3": "python",
    "shell": "console",
    "shell-session": "console",
    "shellsession": "console",
    "zsh": "console",
}

_FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`]*)")
_DIRECTIVE = re.compile(r"\{(?:code|code-block|sourcecode)\}\s*")
_NOT_RUN = re.compile(r"\s*<!--\s*not run\b:?(?P<reason>.*?)(?:-->|$)")
_EXIT = re.compile(r"#\s*exit\s+(\d+)\s*$")
_COMMAND_SECONDS = 120


@dataclass(frozen=True)
class Block:
    language: str
    flags: frozenset[str]
    line: int  # of the first line inside, counted from 1
    lines: list[str]


def blocks(text: str, name: str) -> Iterator[Block]:
    """The blocks of a page that are to run. Fails on what looks like one and would not run."""
    lines = text.splitlines()
    at = 0
    excused = False
    while at < len(lines):
        line, at = lines[at], at + 1
        place = f"{name}:{at}"
        if comment := _NOT_RUN.match(line):
            assert comment["reason"].strip(), f"{place}: `not run` without a reason"
            excused = at < len(lines) and _FENCE.fullmatch(lines[at]) is not None
            assert excused, f"{place}: `not run` must stand on the line before a code block"
            continue
        opening = _FENCE.fullmatch(line)
        if not opening:
            continue
        closing = re.compile(rf"\s*{opening['fence'][0]}{{{len(opening['fence'])},}}\s*")
        first = at
        while at < len(lines) and not closing.fullmatch(lines[at]):
            at += 1
        assert at < len(lines), f"{place}: code block without an end"
        body = [line.removeprefix(opening["indent"]) for line in lines[first:at]]
        at += 1
        language, *flags = _DIRECTIVE.sub("", opening["info"]).split() or [""]
        assert language not in MEANT, f"{place}: write {MEANT[language]}, not {language}"
        if not excused and (language == "python" or language in SHELL):
            yield Block(language, frozenset(flags), first + 1, body)
        excused = False


def commands(block: Block, name: str) -> Iterator[tuple[int, str, list[str]]]:
    """Line number, command and output shown, of every `$ ` line of a shell block."""
    found: list[tuple[int, str, list[str]]] = []
    continued = False
    for number, line in enumerate(block.lines, block.line):
        if continued:
            at, command, shown = found[-1]
            found[-1] = (at, f"{command}\n{line.removeprefix('> ')}", shown)
        elif line.startswith("$ "):
            found.append((number, line[2:], []))
        elif found:
            found[-1][2].append(line)
        continued = bool(found) and not found[-1][2] and line.endswith("\\")
    assert found, f"{name}:{block.line}: no line begins with `$ `, so nothing would run"
    return iter(found)


def same(shown: list[str], printed: list[str]) -> bool:
    """Whether the output is the one shown, but for spaces and empty lines at the ends."""
    pattern = "".join(
        r"(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in trimmed(shown)
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in trimmed(printed))) is not None


def trimmed(lines: list[str]) -> list[str]:
    return "\n".join(line.rstrip() for line in lines).rstrip("\n").split("\n")


def run_command(at: str, command: str, shown: list[str] | None, folder: Path) -> None:
    wanted = int(code[1]) if (code := _EXIT.search(command)) else 0
    env = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "TERM": "dumb",
    }
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_COMMAND_SECONDS,
        encoding="utf-8",
    )
    if done.returncode != wanted:
        problem = f"exit {done.returncode}, not {wanted}\n{done.stdout}"
        pytest.fail(f"{at}: $ {command}\n{problem}", pytrace=False)
    if shown is not None and not same(shown, done.stdout.splitlines()):
        problem = "\n".join(["the page shows:", *shown, "", "it prints:", done.stdout])
        pytest.fail(f"{at}: $ {command}\n{problem}", pytrace=False)


def run_page(page: Path, folder: Path) -> None:
    """Run a page's blocks in a folder, which must be the current one."""
    names: dict[str, Any] = {"__name__": "__page__"}
    for block in blocks(page.read_text("utf-8"), page.name):
        if block.language == "python":
            code = "\n" * (block.line - 1) + "\n".join(block.lines)  # tracebacks name the line
            exec(compile(code, str(page), "exec", dont_inherit=True), names)
            continue
        for line, command, shown in commands(block, page.name):
            run_command(
                f"{page.name}:{line}", command, shown if "check" in block.flags else None, folder
            )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    if (ROOT / "examples").is_dir():
        shutil.copytree(ROOT / "examples", folder / "examples")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page_runs(page: Path, folder: Path) -> None:
    run_page(page, folder)


# The runner, checked. `'''` stands for the fence, so that this file shows no real one.


def page_of(folder: Path, text: str) -> Path:
    page = folder.parent / "page.md"
    page.write_text(text.replace("'''", "```"), "utf-8")
    return page


GOOD = [
    "no block at all",
    "'''python\nx = 1\n'''\ntext\n'''python\nassert x == 1\n'''",
    "- in a list:\n\n  '''python\n  if True:\n      x = 1\n  '''",
    "'''python\nopen('a', 'w').close()\n'''\n'''bash\n$ test -f a\n'''",
    "'''console\n$ exit 3  # exit 3\n'''",
    "'''console check\n$ printf 'a\\nb\\nc\\n'\na\n...\nc\n$ echo d >&2\nd\n'''",
    "'''console check\n$ echo a \\\n    b\na b\n'''",
    "'''console check\n$ true\n'''",
    "'''console check\n$ printf 'a\\nb\\n'\na\n...\n'''",
    "'''console\n$ echo a\nnot compared\n'''",
    "'''{code-block} python\nassert True\n'''",
    "<!-- not run: would wait for ever -->\n'''bash\n$ exit 1\n'''",
    "'''text\n$ exit 1\n'''\n'''\n$ exit 1\n'''\n'''json\n{\n'''",
    "~~~~markdown\n'''python\n1 / 0\n'''\n~~~~",
]
BAD = [
    ("'''python\n1 / 0\n'''", "division by zero"),
    ("'''python\nassert False, 'no'\n'''", "no"),
    ("'''bash\n$ false\n'''", "page.md:2: .*\nexit 1, not 0"),
    ("'''bash\n$ false | true\n'''", "exit 1, not 0"),
    ("'''bash\n$ true  # exit 1\n'''", "exit 0, not 1"),
    ("'''bash\nfalse\n'''", "nothing would run"),
    ("'''console check\n$ echo a\nb\n'''", "it prints:\na"),
    ("'''console check\n$ echo a\n'''", "it prints:\na"),
    ("'''console check\n$ true\na\n'''", "the page shows:\na"),
    ("<!-- not run: -->\n'''bash\n$ false\n'''", "without a reason"),
    ("<!-- not run -->\n'''bash\n$ false\n'''", "without a reason"),
    ("<!-- not run: why -->\n\n'''bash\n$ false\n'''", "line before"),
    ("'''shell\n$ true\n'''", "write console"),
    ("'''python\nx = 1\n", "without an end"),
    ("<!-- not run: why -->\n'''bash\n$ false\n'''\n'''bash\n$ false\n'''", "page.md:6"),
]


@pytest.mark.parametrize("text", GOOD)
def test_runner_accepts(text: str, folder: Path) -> None:
    run_page(page_of(folder, text), folder)


@pytest.mark.parametrize(("text", "message"), BAD)
def test_runner_refuses(text: str, message: str, folder: Path) -> None:
    error = (AssertionError, ZeroDivisionError, pytest.fail.Exception)
    with pytest.raises(error, match=message):
        run_page(page_of(folder, text), folder)


def test_traceback_names_the_line(folder: Path) -> None:
    page = page_of(folder, "a\n\n'''python\nx = 1\n\n1 / 0\n'''")
    with pytest.raises(ZeroDivisionError) as caught:
        run_page(page, folder)
    assert (str(caught.traceback[-1].path), caught.traceback[-1].lineno + 1) == (str(page), 6)
