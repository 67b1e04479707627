#!/usr/bin/env bash
# Sets up .venv-test when needed, then lints, type-checks and tests, and tries the wheels.
#
#   bash scripts/test.sh [pytest arguments]
#
# Needs Python 3.11 or later with pip (or, as root, apt); Chromium for the page of `ufkit view`. PYTHON=python3.12 picks the
# interpreter; JOBS=4 the number of test processes (default: one per core).
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
cd -- "$root"
venv=$root/.venv-test
python=$venv/bin/python
stamp=$venv/ufkit-stamp
begin=$EPOCHREALTIME

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore
export PYTHONUNBUFFERED=1
unset PYTHONHOME PYTHONPATH
unset PYTHONDONTWRITEBYTECODE # hundreds of commands are tried: each would compile all it imports
[ -t 0 ] || exec </dev/null

since() { # START: seconds passed, with one decimal
    local us=$((10#${EPOCHREALTIME/[.,]/} - 10#${1/[.,]/}))
    printf '%d.%d s' $((us / 1000000)) $((us / 100000 % 10))
}

die() {
    echo "test.sh: FAILED: $*" >&2
    exit 1
}

step() { # NAME COMMAND...: runs it; a failure ends the script with its exit code
    local name=$1 start=$EPOCHREALTIME code=0
    shift
    echo "== $name"
    "$@" || code=$?
    if [ "$code" -ne 0 ]; then
        echo "test.sh: FAILED at step: $name (exit $code, $(since "$start"))" >&2
        exit "$code"
    fi
    echo "-- $name: ok, $(since "$start")"
}

twice() { # registries and mirrors fail now and then
    "$@" && return
    echo "test.sh: failed, once more in 5 s: $*" >&2
    sleep 5
    "$@"
}

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    local name
    if [ -n "${PYTHON:-}" ]; then
        new_enough "$PYTHON" || die "PYTHON=$PYTHON is not a Python 3.11 or later"
        echo "$PYTHON"
        return
    fi
    for name in python3 python3.13 python3.12 python3.11 python3.14 python; do
        if new_enough "$name"; then
            echo "$name"
            return
        fi
    done
    die "no Python 3.11 or later on PATH; set PYTHON=/path/to/python3"
}

# Debian and Ubuntu leave ensurepip out of python3. pip can fill an empty environment itself;
# without pip, only apt can help.
make_venv() { # BASE
    local log
    rm -rf -- "$venv"
    log=$("$1" -m venv "$venv" 2>&1) && return
    echo "python3-venv is missing, trying without"
    rm -rf -- "$venv"
    "$1" -m venv --without-pip "$venv" 2>/dev/null &&
        "$1" -m pip --version >/dev/null 2>&1 &&
        twice "$1" -m pip --python "$python" install -q pip && return
    rm -rf -- "$venv"
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        export DEBIAN_FRONTEND=noninteractive
        twice apt-get update -qq &&
            twice apt-get install -y -qq python3-venv &&
            "$1" -m venv "$venv" && return
    fi
    echo "$log" >&2
    die "cannot make $venv: install python3-venv or pip"
}

old_pip() {
    ! "$python" -c '
import sys
from importlib.metadata import version
sys.exit([int(n) for n in version("pip").split(".")[:2]] < [25, 1])'
}

install() {
    if old_pip; then
        twice "$python" -m pip install -q --upgrade 'pip>=25.1' || die "cannot upgrade pip"
    fi
    twice "$python" -m pip install -q -e '.[all]' -e ./compat --group dev || die "cannot install"
}

# The stamp says what the environment was made from; an equal one is taken as it is. Another
# place or interpreter: start over. Another pyproject.toml: install on top.
prepare() {
    local base made wanted found=""
    base=$(find_python) || exit
    made="$root $("$base" -c 'import sys; print(*sys.version_info[:3], sep=".")')"
    wanted="$made $(cat pyproject.toml compat/pyproject.toml | cksum)"
    if [ -f "$stamp" ] && "$python" -m pip --version >/dev/null 2>&1; then
        found=$(cat "$stamp")
    fi
    if [ "$found" = "$wanted" ]; then
        echo "$venv is up to date"
        return
    fi
    [[ $found == "$made "* ]] || make_venv "$base"
    install
    echo "$wanted" >"$stamp"
}

prepare_alone() { # two runs in one tree must not build the same environment at once
    if command -v flock >/dev/null; then
        (
            flock 9
            prepare
        ) 9>"$venv.lock"
    else
        prepare
    fi
}

# The page of `ufkit view` is tried in a browser; without one those tests are skipped.
browser() {
    local name
    for name in chromium chromium-browser google-chrome; do
        if command -v "$name"; then return; fi
    done
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        export DEBIAN_FRONTEND=noninteractive PATH=$PATH:/usr/sbin:/sbin
        twice apt-get update -qq && twice apt-get install -y -qq chromium >/dev/null && return
    fi
    echo "no browser is installed: what needs one will be skipped, as pytest says below"
}

shopt -s nullglob
typed=(src compat/src scripts/*.py benchmarks/*.py)

step "environment" prepare_alone
step "browser" browser
step "ruff check" "$python" -m ruff check .
step "ruff format" "$python" -m ruff format --check .
step "mypy" "$python" -m mypy "${typed[@]}"
step "pytest" "$python" -m pytest -n "${JOBS:-auto}" --dist loadfile "$@"
if [ $# -eq 0 ]; then # not where some tests were asked for
    step "wheels" twice bash scripts/check_wheels.sh "$python"
fi
echo "test.sh: all steps passed, $(since "$begin")"
