"""Datasets in LMDB: read anywhere, written so that what was committed stays."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import lmdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ufkit
from ufkit.core.files import Source
from ufkit.ufw import writer
from ufkit.ufw.annotations import AnnotatedDatum, Box
from ufkit.ufw.pages import Tree
from ufkit.ufw.ranks import Ranks
from ufkit.ufw.schema import ANNOTATED_DATUM, DATUM
from ufw.datasets import foreign, made, record
from wire.judge import judge


def failing(path: Path, **options: Any) -> None:
    with ufkit.create_dataset(path, **options) as out:
        out.put(record(9))
        raise ZeroDivisionError


def labels(path: Path) -> list[int | None]:
    with ufkit.open_dataset(path) as dataset:
        return [each.datum.label for each in dataset]


def code(raised: pytest.ExceptionInfo[ufkit.UfkitError]) -> str:
    return raised.value.diagnostic.code


# -- reading ---------------------------------------------------------------------------------


def test_a_dataset_is_a_sequence(tmp_path: Path) -> None:
    dataset = ufkit.open_dataset(made(tmp_path / "db"))
    assert len(dataset) == 5
    assert dataset.kind == "Datum"
    assert [each.datum.label for each in dataset] == [0, 1, 2, 3, 4]
    assert [dataset[at].datum.label for at in (0, -1, 2)] == [0, 4, 2]
    assert [each.datum.label for each in dataset[1:4]] == [1, 2, 3]
    assert [each.datum.label for each in dataset[::-2]] == [4, 2, 0]
    assert dataset[9:] == []
    assert np.array_equal(dataset[3].array(), record(3).array())
    assert [key for key, _ in dataset.items(3)] == [b"00000003_3.jpg", b"00000004_4.jpg"]
    for index in (5, -6):
        with pytest.raises(IndexError):
            dataset[index]


def test_large_records_are_fetched_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ufkit.create_dataset(tmp_path / "db") as out:
        for number in range(20):
            out.put(ufkit.Datum.of(np.full((1, 200, 400), number, np.uint8)))
    asked: list[int] = []
    plain = Source.expect

    def noted(self: Source, start: int, stop: int) -> None:
        asked.append(start)
        plain(self, start, stop)

    monkeypatch.setattr(Source, "expect", noted)
    dataset = ufkit.open_dataset(tmp_path / "db")
    assert dataset.kind == "Datum"
    asked.clear()
    for number, each in enumerate(dataset):
        assert each.array().max() == number
        assert len(asked) == min(number + 9, 20)
    assert len(set(asked)) == 20


def test_str_and_bytes_keys(tmp_path: Path) -> None:
    dataset = ufkit.open_dataset(made(tmp_path / "db"))
    for key in ("00000002_2.jpg", b"00000002_2.jpg"):
        assert dataset[key].datum.label == 2
        assert key in dataset
    assert "2.jpg" not in dataset
    assert 2 not in dataset
    with pytest.raises(KeyError, match=r"2\.jpg"):
        dataset["2.jpg"]
    odd = foreign(tmp_path / "odd", {b"\xff\xfe": record(1).to_bytes()})
    dataset = ufkit.open_dataset(odd)
    assert dataset[b"\xff\xfe"].datum.label == 1
    assert dataset[str(b"\xff\xfe", "utf-8", "surrogateescape")].datum.label == 1


def test_the_folder_or_the_file(tmp_path: Path) -> None:
    made(tmp_path / "db")
    for path in (tmp_path / "db", tmp_path / "db" / "data.mdb", str(tmp_path / "db")):
        assert labels(Path(path)) == [0, 1, 2, 3, 4]


def test_read_only_media(tmp_path: Path) -> None:
    """Nothing is written beside the data, no lock either."""
    made(tmp_path / "db")
    (tmp_path / "db" / "lock.mdb").unlink()
    (tmp_path / "db" / "data.mdb").chmod(0o444)
    (tmp_path / "db").chmod(0o555)
    try:
        assert labels(tmp_path / "db") == [0, 1, 2, 3, 4]
        assert os.listdir(tmp_path / "db") == ["data.mdb"]
    finally:
        (tmp_path / "db").chmod(0o755)


def test_it_is_open_as_often_as_one_likes(tmp_path: Path) -> None:
    """LMDB itself refuses a second time in one process; also while it is written to."""
    path = made(tmp_path / "db")
    first, second = ufkit.open_dataset(path), ufkit.open_dataset(path / "data.mdb")
    with ufkit.create_dataset(path, mode="append") as out:
        assert labels(path) == [0, 1, 2, 3, 4]
        out.put(record(5))
    first.close()
    assert second[1].datum.label == 1
    assert labels(path) == [0, 1, 2, 3, 4, 5]
    with pytest.raises(ufkit.FileError) as raised:
        first[2]
    assert code(raised) == "UFK005"


def test_records_outlive_the_dataset(tmp_path: Path) -> None:
    with ufkit.open_dataset(made(tmp_path / "db")) as dataset:
        array = dataset[4].array()
    del dataset
    shutil.rmtree(tmp_path / "db")
    assert np.array_equal(array, record(4).array())


def _label(dataset: ufkit.Dataset, index: int) -> int | None:
    return dataset[index].datum.label


def _of(each: Any) -> tuple[int, int | None]:
    return int(each.array().sum()), each.datum.label


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers(tmp_path: Path, method: str) -> None:
    """As a loader uses it: opened here, read in several processes."""
    dataset = ufkit.open_dataset(made(tmp_path / "db", 20))
    assert dataset[0].datum.label == 0
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.starmap(_label, [(dataset, at) for at in range(20)])
    assert found == list(range(20))
    assert dataset[7].datum.label == 7


def test_a_fork_that_uses_what_it_inherits(tmp_path: Path) -> None:
    dataset = ufkit.open_dataset(made(tmp_path / "db"))
    going = iter(dataset.items())
    next(going)
    child = os.fork()
    if not child:
        os._exit(0 if dataset[3].datum.label == 3 and len(list(dataset)) == 5 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [each.datum.label for _, each in going] == [1, 2, 3, 4]


def test_it_pickles_as_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path / "db", 3)
    monkeypatch.chdir(tmp_path)
    data = pickle.dumps(ufkit.open_dataset("db", mmap=False).map(_of))
    monkeypatch.chdir("/")
    mapped = pickle.loads(data)
    assert len(mapped) == 3
    assert mapped[1] == list(mapped)[1] == _of(record(1))


# -- ranks -----------------------------------------------------------------------------------

_keys = st.lists(
    st.one_of(
        st.integers(0, 300).map(lambda n: b"%08d_x" % n),
        st.integers(0, 30).map(lambda n: b"%d" % n),
        st.binary(min_size=1, max_size=3),
        st.tuples(st.integers(0, 40), st.sampled_from(b"ab")).map(lambda t: b"%04d%c" % t),
    ),
    max_size=300,
    unique=True,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(keys=_keys, data=st.data())
def test_the_key_at_an_index(tmp_path: Path, keys: list[bytes], data: st.DataObject) -> None:
    """Whatever the keys, also where numbers are missing or come twice."""
    folder = tmp_path / "ranks"
    shutil.rmtree(folder, ignore_errors=True)
    environment = lmdb.open(str(folder), map_size=1 << 22, sync=False)
    with environment.begin(write=True) as transaction:
        for key in keys:
            transaction.put(key, b"x")
    environment.close()
    tree = Tree(Source.open(folder / "data.mdb"))
    assert [key for key, _, _ in tree.items()] == sorted(keys)
    ranks = Ranks(tree)
    for rank in data.draw(st.lists(st.integers(0, max(len(keys) - 1, 0)), max_size=5)):
        if [key for key, _, _ in ranks.items(rank)] != sorted(keys)[rank:]:
            assert _doubled_and_missing(keys)  # judged numbered, by its ends and count
    for key in keys:
        rank = ranks.rank(key)
        assert rank == sorted(keys).index(key) or _doubled_and_missing(keys)
    for absent in (b"", b"00000003", b"\xff\xff\xff\xff", b"00000400_x"):
        assert absent in keys or ranks.rank(absent) is None


def _doubled_and_missing(keys: list[bytes]) -> bool:
    """Whether numbers come twice, and as many are missing: only a look at all keys would tell."""
    numbers = [key[:4] if len(key) == 5 else key[:8] for key in sorted(keys)]
    return len(set(numbers)) < len(numbers)


def test_numbered_keys_are_found_without_the_others(tmp_path: Path) -> None:
    """As Caffe and ufwio number them: a look-up, whatever the number of records."""
    items = {b"%08d_%d" % (n, n % 7): b"\x28\x01" for n in range(5000)}
    dataset = ufkit.open_dataset(foreign(tmp_path / "db", items))
    assert dataset.key(4321) == b"00004321_2"
    assert dataset.index_of("00004321_2") == 4321
    assert dataset._ranks._leaves is None


def test_the_index_of_a_key(tmp_path: Path) -> None:
    """Keys of any kind; what is not there is said so."""
    items = {b"k%d" % n: b"\x28\x01" for n in range(3000)}
    dataset = ufkit.open_dataset(foreign(tmp_path / "db", items))
    keys = list(dataset.keys())
    assert [dataset.index_of(key) for key in keys[::97]] == list(range(0, 3000, 97))
    for absent in ("k", "k3000", b"\xff", "a"):
        with pytest.raises(KeyError, match="has no key"):
            dataset.index_of(absent)


# -- what is no dataset ----------------------------------------------------------------------


def test_what_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(ufkit.FileError) as missing:
        ufkit.open_dataset(tmp_path / "absent")
    assert code(missing) == "UFK001"
    (tmp_path / "leveldb").mkdir()
    (tmp_path / "leveldb" / "CURRENT").touch()
    (tmp_path / "a.txt").write_text("hello")
    for path, says in ((tmp_path, "no data.mdb"), (tmp_path / "leveldb", "LevelDB"),
                       (tmp_path / "a.txt", "plain text")):  # fmt: skip
        with pytest.raises(ufkit.FormatError, match=says) as raised:
            ufkit.open_dataset(path)
        assert code(raised) == "UFW304"


def test_foreign_lmdb(tmp_path: Path) -> None:
    """The text recognisers' databases, whose images Caffe calls corrupted."""
    items = {b"num-samples": b"1", b"image-000000001": b"\xff\xd8\xff\xe0" + bytes(99),
             b"label-000000001": b"word"}  # fmt: skip
    with pytest.raises(ufkit.FormatError, match="image-000000001") as raised:
        ufkit.open_dataset(foreign(tmp_path / "crnn", items))
    assert code(raised) == "UFW306"
    with pytest.raises(ufkit.FormatError):
        ufkit.create_dataset(tmp_path / "crnn", mode="append")


def test_a_file_cut_short(tmp_path: Path) -> None:
    """LMDB would open it, and the process end at the first page that is missing."""
    data = (made(tmp_path / "db", 40) / "data.mdb").read_bytes()
    for size in (0, 17, 4096, 8192, len(data) // 2, len(data) - 1):
        (tmp_path / "cut.mdb").write_bytes(data[:size])
        with pytest.raises((ufkit.FormatError, ufkit.FileError)):
            ufkit.open_dataset(tmp_path / "cut.mdb")
    (tmp_path / "cut.mdb").write_bytes(data[: len(data) // 2])
    with pytest.raises(ufkit.FormatError, match=f"{len(data) // 2:,} bytes.*{len(data):,}"):
        ufkit.open_dataset(tmp_path / "cut.mdb")


def test_an_empty_database(tmp_path: Path) -> None:
    dataset = ufkit.open_dataset(made(tmp_path / "db", 0))
    assert (len(dataset), dataset.kind, list(dataset), dataset[:]) == (0, "", [], [])
    assert list(ufkit.check_dataset(tmp_path / "db")) == []
    assert ufkit.summarize_dataset(dataset).as_dict()["records"] == 0


# -- writing ---------------------------------------------------------------------------------


def test_caffe_and_ufwio_keys(tmp_path: Path) -> None:
    with ufkit.create_dataset(tmp_path / "caffe") as out:
        assert out.put(record(0), "a/b c.jpg") == b"00000000_a/b c.jpg"
        assert out.put(record(1), b"\xff") == b"00000001_\xff"
    with ufkit.create_dataset(tmp_path / "ufwio", keys="ufwio") as out:
        assert out.put(record(0)) == b"0000000000__ "
        assert out.put(record(1), "cat") == b"0000000001__cat"
    with ufkit.create_dataset(tmp_path / "own", keys="own") as out:
        for name in ("10", "1", "2"):
            assert out.put(record(int(name)), name) == name.encode()
    assert labels(tmp_path / "own") == [1, 10, 2]  # as keys are ordered


def test_duplicate_keys(tmp_path: Path) -> None:
    """LMDB would drop the second record, or the first, without a word."""
    with ufkit.create_dataset(tmp_path / "db", keys="own", commit_every=2) as out:
        for name in ("a", "c", "d"):
            out.put(record(1), name)
        for name in ("a", "c", "d", "", "x" * 512):
            with pytest.raises(ufkit.RequestError) as raised:
                out.put(record(2), name)
            assert code(raised) == "UFW307"
        out.put(record(3), "b")
    assert labels(tmp_path / "db") == [1, 3, 1, 1]


def test_map_size_grows_without_losing_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_MAP", 32 << 10)
    with ufkit.create_dataset(tmp_path / "db", commit_every=7) as out:
        for number in range(200):
            out.put(record(number, size=1 + number % 9))
    dataset = ufkit.open_dataset(tmp_path / "db")
    assert [each.datum.label for each in dataset] == list(range(200))
    assert all(
        np.array_equal(each.array(), record(n, size=1 + n % 9).array())
        for n, each in enumerate(dataset)
    )


def test_target_exists(tmp_path: Path) -> None:
    path = made(tmp_path / "db")
    with pytest.raises(ufkit.FileError) as raised:
        ufkit.create_dataset(path)
    assert code(raised) == "UFK003"
    assert labels(path) == [0, 1, 2, 3, 4]
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").touch()
    for mode in ("new", "append", "overwrite"):
        with pytest.raises(ufkit.FileError, match="other files"):
            ufkit.create_dataset(tmp_path / "photos", mode=mode)
    assert os.listdir(tmp_path / "photos") == ["a.jpg"]
    (tmp_path / "empty").mkdir()
    assert labels(made(tmp_path / "empty")) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("keys", ["caffe", "ufwio"])
def test_append_goes_on_with_the_index(tmp_path: Path, keys: str) -> None:
    made(tmp_path / "db", keys=keys)
    with ufkit.create_dataset(tmp_path / "db", mode="append", keys=keys) as out:
        assert len(out) == 5
        assert out.put(record(5)).split(b"_")[0].endswith(b"05")
    assert labels(tmp_path / "db") == [0, 1, 2, 3, 4, 5]


def test_append_after_keys_of_another_style(tmp_path: Path) -> None:
    foreign(tmp_path / "db", {b"a": record(1).to_bytes(), b"b": record(2).to_bytes()})
    with ufkit.create_dataset(tmp_path / "db", mode="append") as out:
        assert out.put(record(3), "c") == b"00000002_c"
    assert sorted(filter(None, labels(tmp_path / "db"))) == [1, 2, 3]


def test_overwrite_is_all_or_nothing(tmp_path: Path) -> None:
    path = made(tmp_path / "db")
    old = ufkit.open_dataset(path)
    with pytest.raises(ZeroDivisionError):
        failing(path, mode="overwrite", commit_every=1)
    assert labels(path) == [0, 1, 2, 3, 4]
    assert sorted(os.listdir(path)) == ["data.mdb", "lock.mdb"]
    made(path, 2, mode="overwrite")
    assert labels(path) == [0, 1]
    assert len(list(old)) == 5  # who has it open keeps what was there
    assert os.listdir(tmp_path) == ["db"]


def test_a_single_file_without_a_lock(tmp_path: Path) -> None:
    made(tmp_path / "set.mdb", single_file=True)
    made(tmp_path / "set.mdb", 3, mode="append")
    made(tmp_path / "other.mdb", 3, mode="overwrite", single_file=True)
    assert sorted(os.listdir(tmp_path)) == ["other.mdb", "set.mdb"]
    assert labels(tmp_path / "set.mdb") == [0, 1, 2, 3, 4, 0, 1, 2]


def test_an_error_before_the_first_commit_leaves_nothing(tmp_path: Path) -> None:
    for path, single in ((tmp_path / "db", False), (tmp_path / "a.mdb", True)):
        with pytest.raises(ZeroDivisionError):
            failing(path, single_file=single)
    assert os.listdir(tmp_path) == []


def test_records_of_one_kind(tmp_path: Path) -> None:
    with ufkit.create_dataset(tmp_path / "db") as out:
        out.put(AnnotatedDatum.of(record(0), [Box(0, 0, 1, 1, 3)]))
        with pytest.raises(ufkit.RequestError, match="AnnotatedDatum"):
            out.put(record(1))
    assert ufkit.open_dataset(tmp_path / "db").kind == "AnnotatedDatum"


def test_options_that_are_none(tmp_path: Path) -> None:
    for options in ({"mode": "a"}, {"keys": "mine"}):
        with pytest.raises(ufkit.RequestError, match="may be"):
            ufkit.create_dataset(tmp_path / "db", **options)
    assert not (tmp_path / "db").exists()


def test_the_official_runtime_reads_every_record(tmp_path: Path) -> None:
    made(tmp_path / "plain", 30)
    with ufkit.create_dataset(tmp_path / "boxes") as out:
        for number in range(30):
            out.put(AnnotatedDatum.of(record(number), [Box(0, 0, 1, 0.5, number)]))
    for name, type_ in (("plain", DATUM), ("boxes", ANNOTATED_DATUM)):
        for number, (_, data) in enumerate(ufkit.open_dataset(tmp_path / name).raw()):
            found = judge("ufw").parsed(type_, data)
            datum = found if type_ is DATUM else found.datum
            assert datum.data == record(number).array().tobytes()
            assert datum.label == number


# -- what may happen to the process ----------------------------------------------------------

_ENDLESS = """
import sys, ufkit, numpy as np
out = ufkit.create_dataset(sys.argv[1], mode="append", commit_every=5)
print(len(out), flush=True)
n = len(out)
while True:
    out.put(ufkit.Datum.of(np.full((3, 40, 40), n % 250 + 1, np.uint8), n))
    n += 1
    if n % 5 == 0: print(len(out), flush=True)
"""


@pytest.mark.parametrize("path", ["db", "db.mdb"])
def test_kill_9_and_resume(tmp_path: Path, path: str) -> None:
    """At any moment: what was reported as committed is there, whole, and can be gone on with."""
    target = tmp_path / path
    if path.endswith(".mdb"):
        made(target, 1, single_file=True)
    for wait in (0.0, 0.02, 0.1):
        command = [sys.executable, "-c", _ENDLESS, str(target)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            reported = [process.stdout.readline(), process.stdout.readline()]
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
            reported += [line for line in process.stdout if line.endswith("\n")]
        found = labels(target)
        assert len(found) >= int(reported[-1]) >= int(reported[0])
        assert found == list(range(len(found)))
        assert all(each.array().min() > 0 for each in ufkit.open_dataset(target))
        assert not {"UFW301", "UFW305"} & {each.code for each in ufkit.check_dataset(target)}
    with ufkit.create_dataset(target, mode="append") as out:
        assert out.put(record(0)) == b"%08d_" % len(found)


_FULL = """
import sys, resource, ufkit, numpy as np
from ufkit.core.diag import FileError
out = ufkit.create_dataset(sys.argv[1], commit_every=10)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
try:
    for n in range(1000):
        out.put(ufkit.Datum.of(np.full((3, 40, 40), n % 250 + 1, np.uint8), n))
except FileError as error:
    print(len(out), error.diagnostic.code, error.diagnostic.message)
"""


def test_disk_full(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FULL, str(tmp_path / "db")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    count, error, message = done.stdout.split(maxsplit=2)
    assert error == "UFK002"
    assert f"{int(count):,} records before are intact" in message
    assert 0 < int(count) < 100
    assert labels(tmp_path / "db") == list(range(int(count)))
    made_up = made(tmp_path / "db", 3, mode="append")
    assert len(labels(made_up)) == int(count) + 3


def test_memory_stays_bounded(tmp_path: Path) -> None:
    """160 MB of records, read and written within a few: nothing is kept."""
    script = (
        "import sys, resource, ufkit, numpy as np\n"
        "image = np.ones((3, 500, 500), np.float32)\n"
        "with ufkit.create_dataset(sys.argv[1]) as out:\n"
        "    for n in range(10): out.put(ufkit.Datum.of(image, n))\n"
        "    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "    for n in range(50): out.put(ufkit.Datum.of(image, n))\n"
        "print(base, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "db")],
                          capture_output=True, text=True, check=True)  # fmt: skip
    base, peak = map(int, done.stdout.split())
    assert peak - base < 150_000  # KiB; 188 MB were written, of them 64 MiB are kept at a time


# -- the corpus ------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "count"), [("signatures_20x20", 17), ("thumbs_32x32", 380)])
def test_the_corpus_read_checked_and_rewritten(
    corpus: Path, tmp_path: Path, name: str, count: int
) -> None:
    dataset = ufkit.open_dataset(corpus / "lmdb" / name)
    assert len(dataset) == count
    assert list(ufkit.check_dataset(corpus / "lmdb" / name)) == []
    summary = ufkit.summarize_dataset(dataset)
    assert (summary.key_style, summary.kind, summary.looked_at) == ("caffe", "Datum", count)
    assert sum(summary.labels.values()) == count
    with ufkit.create_dataset(tmp_path / "copy") as out:
        for key, each in dataset.items():
            assert out.put(each, key.split(b"_", 1)[1]) == key
    assert list(ufkit.open_dataset(tmp_path / "copy").raw()) == list(dataset.raw())
    assert [dataset.key(at) for at in range(count)] == list(dataset.keys())
