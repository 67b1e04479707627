"""Files as the system gives and takes them: maps, pipes, full disks, killed processes."""

from __future__ import annotations

import errno
import io
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ufkit
from graphs import small_net
from robustness.nets import NETS
from ufkit.core.diag import FileError
from ufkit.core.files import Source
from ufkit.uff.io import write_to
from ufkit.wire.values import encode_varint

ROOT = Path(__file__).resolve().parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="a matter of POSIX systems")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a matter of Linux")


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.uff"
    ufkit.save(small_net().meta, path)
    return path


def weights(path: Path) -> Any:
    with ufkit.open(path) as meta:
        return np.frombuffer(meta.referenced_data["weights_dense/kernel"].view(), "<f4").copy()


# -- saving over what is open ----------------------------------------------------------------


def test_saving_over_the_open_file_keeps_its_data(net: Path) -> None:
    before = net.read_bytes()
    with ufkit.open(net) as meta:
        ufkit.save(meta, net)
        assert net.read_bytes() == before
        meta.graph["relu"].fields["func"] = "tanh"
        ufkit.save(meta, net)
        ufkit.save(meta, net)
    with ufkit.open(net) as meta:
        assert meta.graph["relu"].fields["func"] == "tanh"
    assert len(net.read_bytes()) == len(before)


def test_arrays_outlive_their_file(net: Path) -> None:
    expected = weights(net)
    meta = ufkit.open(net)
    array = np.frombuffer(meta.referenced_data["weights_dense/kernel"].view(), "<f4")
    meta.close()
    meta.close()
    net.unlink()
    np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("mmap", [True, False])
def test_what_was_not_read_is_out_of_reach_once_closed(net: Path, mmap: bool) -> None:
    meta = ufkit.open(net, mmap=mmap)
    span = meta.referenced_data["weights_dense/kernel"]
    graph = meta.graph
    meta.close()
    asked: tuple[Callable[[], Any], ...] = (
        span.view,
        lambda: graph["conv"].fields["strides"],
        lambda: [*ufkit.check(meta)],
        lambda: ufkit.save(meta, net),
        lambda: ufkit.run(graph, {"image": np.zeros((1, 8, 8, 3), np.float32)}),
    )
    for action in asked:
        with pytest.raises(FileError, match="UFK005"):
            action()
    assert weights(net).size == 320


def test_without_a_map_the_file_may_vanish(net: Path) -> None:
    expected = weights(net)
    with ufkit.open(net, mmap=False) as meta:
        net.write_bytes(b"")
        values = np.frombuffer(meta.referenced_data["weights_dense/kernel"].view(), "<f4")
        np.testing.assert_array_equal(values, expected)


# -- large files -----------------------------------------------------------------------------


class Ends(io.BytesIO):
    """A file of which only the ends are kept."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last, self.size = bytearray(), b"", 0

    def write(self, data: Any) -> int:
        if self.size < 4096:
            self.first += data[:4096]
        self.size += len(data)
        self.last = bytes(data[-4:])
        return len(data)


@linux
def test_a_file_beyond_2_gib_is_listed_read_and_edited(tmp_path: Path) -> None:
    """Its blob is a hole: the file takes no room on the disk."""
    size = (2 << 30) + 4096
    path = tmp_path / "large.uff"
    b = ufkit.Builder()
    b.const("small", np.arange(4, dtype=np.float32))
    b.output("small")
    ufkit.save(b.meta, path)

    base = path.stat().st_size

    def framed(tag: int, body: int) -> bytes:
        return bytes([tag]) + encode_varint(body)

    blob = b"\x4a" + encode_varint(size)
    value = framed(0x12, len(blob) + size)
    key = b"\x0a\x04hole"
    entry = framed(0x2A, len(key) + len(value) + len(blob) + size)
    with open(path, "ab") as file:
        file.write(entry + key + value + blob)
        file.truncate(file.tell() + size - 4)
        file.seek(0, os.SEEK_END)
        file.write(b"last")
    with ufkit.open(path) as meta:
        assert [*meta.referenced_data] == ["weights_small", "hole"]
        assert ufkit.summarize(meta).bytes > size
        span = meta.referenced_data["hole"]
        assert (span.nbytes, bytes(span.view()[-4:])) == (size, b"last")
        before = path.stat().st_size
        meta.graph["small"].fields["shape"] = [2, 2]
        out = Ends()
        write_to(meta, out)
    assert (out.size, bytes(out.last)) == (before + 1, b"last")
    assert ufkit.open(Source(bytes(out.first[: base + 1]))).graph["small"].fields["shape"] == [2, 2]


# -- sources ---------------------------------------------------------------------------------


@posix
def test_a_pipe_can_be_opened(net: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(net.read_bytes()))
    writer.start()
    with ufkit.open(pipe) as meta:
        assert len(meta.graph) == 12
    writer.join()


@linux
def test_standard_input_can_be_opened(net: Path) -> None:
    command = [sys.executable, "-c", "import ufkit; print(len(ufkit.open('/dev/stdin').graph))"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with open(net, "rb") as file:
        assert subprocess.check_output(command, stdin=file, env=environment) == b"12\n"
    piped = subprocess.check_output(command, input=net.read_bytes(), env=environment)
    assert piped == b"12\n"


@pytest.mark.parametrize("mmap", [True, False])
def test_what_cannot_be_opened(tmp_path: Path, mmap: bool) -> None:
    for path in (tmp_path, tmp_path / "absent", tmp_path / "a" / "b", "a\0b", "x" * 5000, ""):
        with pytest.raises(FileError, match="UFK001"):
            ufkit.open(path, mmap=mmap)


def test_a_folder_that_is_a_saved_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").write_bytes(b"")
    with pytest.raises(FileError, match="SavedModel"):
        ufkit.open(tmp_path)


@posix
def test_an_unreadable_file(net: Path) -> None:
    net.chmod(0)
    if os.access(net, os.R_OK):
        pytest.skip("whoever runs this may read everything")
    with pytest.raises(FileError, match="UFK001"):
        ufkit.open(net)


# -- targets ---------------------------------------------------------------------------------


def save(path: Path) -> None:
    ufkit.save(small_net().meta, path)


def convert(path: Path) -> None:
    source = path.parent / "source.uff"
    if not source.exists():
        save(source)
    target = path.with_suffix(".onnx")
    ufkit.convert(source, target, ufkit.Options(force=True))


WRITERS = [save, convert]


@pytest.mark.parametrize("write", [save, lambda path: ufkit.save(small_net().meta, f"{path}.txt")])
def test_a_target_that_cannot_be(tmp_path: Path, write: Callable[[Any], None]) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "absent" / "x", tmp_path / "file" / "x", "a\0b", "x" * 5000):
        with pytest.raises(FileError, match="UFK002"):
            write(path)  # type: ignore[arg-type]
    with pytest.raises(FileError, match="UFK002"):
        save(tmp_path)
    assert [*tmp_path.iterdir()] == [tmp_path / "file"]


def test_conversion_into_a_folder_that_is_not_there(tmp_path: Path) -> None:
    save(tmp_path / "source.uff")
    with pytest.raises(FileError, match="UFK002"):
        ufkit.convert(tmp_path / "source.uff", tmp_path / "absent" / "x.onnx")
    assert [*tmp_path.iterdir()] == [tmp_path / "source.uff"]


@posix
@pytest.mark.parametrize("write", WRITERS)
def test_a_folder_that_is_read_only(tmp_path: Path, write: Callable[[Path], None]) -> None:
    save(tmp_path / "source.uff")
    tmp_path.chmod(0o500)
    if os.access(tmp_path, os.W_OK):
        pytest.skip("whoever runs this may write everywhere")
    with pytest.raises(FileError, match="UFK002"):
        write(tmp_path / "x.uff")
    assert [*tmp_path.iterdir()] == [tmp_path / "source.uff"]


@pytest.fixture
def full_disk() -> Iterator[None]:
    """No file may grow beyond 512 bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    signal.signal(signal.SIGXFSZ, previous)


@posix
@pytest.mark.parametrize("write", WRITERS)
def test_a_disk_that_is_full(
    tmp_path: Path, write: Callable[[Path], None], request: pytest.FixtureRequest
) -> None:
    save(tmp_path / "source.uff")
    target = tmp_path / ("x.uff" if write is save else "x.onnx")
    target.write_bytes(b"old")
    before = sorted(tmp_path.iterdir())
    request.getfixturevalue("full_disk")
    with pytest.raises(FileError, match="UFK002"):
        write(tmp_path / "x.uff")
    assert sorted(tmp_path.iterdir()) == before
    assert target.read_bytes() == b"old"


@linux
def test_a_device_that_is_full() -> None:
    with pytest.raises(FileError, match=os.strerror(errno.ENOSPC)):
        ufkit.save(small_net().meta, "/dev/full")


@linux
def test_devices_and_pipes_are_written_to_not_replaced(tmp_path: Path) -> None:
    ufkit.save(small_net().meta, "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    pipe = tmp_path / "x.onnx"
    os.mkfifo(pipe)
    save(tmp_path / "source.uff")
    with pytest.raises(FileError, match="UFK002"):
        ufkit.convert(tmp_path / "source.uff", pipe, ufkit.Options(force=True))
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert len([*tmp_path.iterdir()]) == 2


@posix
@pytest.mark.parametrize("write", WRITERS)
def test_mode_and_link_are_kept(tmp_path: Path, write: Callable[[Path], None]) -> None:
    suffix = ".uff" if write is save else ".onnx"
    real, link = tmp_path / f"real{suffix}", tmp_path / f"link{suffix}"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real.name)
    write(tmp_path / "link.uff")
    assert link.is_symlink()
    assert real.stat().st_size > 500
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_two_savers_at_once(tmp_path: Path) -> None:
    """Whoever comes last wins; what is there is whole at any time."""
    target = tmp_path / "x.uff"
    metas = [ufkit.open(Source(data)) for data in NETS]
    metas[0].graph["c"].fields["strides"] = [1, 2]
    whole = set()
    for meta in metas:
        ufkit.save(meta, target)
        whole.add(target.read_bytes())
    stop = time.monotonic() + 1
    failures: list[BaseException] = []

    def saver(meta: ufkit.MetaGraph) -> None:
        try:
            while time.monotonic() < stop:
                ufkit.save(meta, target)
        except BaseException as error:  # noqa: BLE001 - handed to the test
            failures.append(error)

    threads = [threading.Thread(target=saver, args=(meta,)) for meta in metas]
    for thread in threads:
        thread.start()
    while time.monotonic() < stop:
        assert target.read_bytes() in whole
    for thread in threads:
        thread.join()
    assert not failures
    assert [*tmp_path.iterdir()] == [target]


_KILLED = """
import sys, numpy as np, ufkit
b = ufkit.Builder()
b.const("c", np.zeros(1 << 22, np.float32)); b.op("y", "Unary", ["c"], func="neg"); b.output("y")
ufkit.save(b.meta, sys.argv[2])
print("ready", flush=True)
while True:
    if sys.argv[1] == "save":
        ufkit.save(b.meta, sys.argv[3])
    else:
        ufkit.convert(sys.argv[2], sys.argv[3], ufkit.Options(force=True))
"""


@posix
@pytest.mark.parametrize("verb", ["save", "convert"])
def test_killed_in_the_middle_the_target_is_whole(tmp_path: Path, verb: str) -> None:
    source = tmp_path / "source.uff"
    target = tmp_path / ("x.uff" if verb == "save" else "x.onnx")
    sizes = set()
    for wait in (0.02, 0.09, 0.2):
        process = subprocess.Popen(
            [sys.executable, "-c", _KILLED, verb, source, target],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )
        assert process.stdout is not None
        with process, process.stdout as out:
            out.readline()
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
        if target.exists():
            sizes.add(target.stat().st_size)
    assert len(sizes) <= 1
    assert all(size > 16 << 20 for size in sizes)
