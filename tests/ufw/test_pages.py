"""The B-tree of LMDB files, against LMDB itself and against damage."""

from __future__ import annotations

import random
import shutil
from contextlib import suppress
from pathlib import Path

import lmdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ufkit
from ufkit.core.files import Source
from ufkit.ufw.pages import Tree
from ufw.datasets import foreign, made, record

_items = st.dictionaries(
    st.binary(min_size=1, max_size=40) | st.binary(min_size=400, max_size=511),
    st.binary(max_size=50) | st.integers(1900, 9000).map(bytes),
    max_size=60,
)


def tree_of(path: Path, items: dict[bytes, bytes]) -> Tree:
    shutil.rmtree(path, ignore_errors=True)
    return Tree(Source.open(foreign(path, items) / "data.mdb"))


def read(tree: Tree, start: bytes = b"") -> dict[bytes, bytes]:
    return {key: bytes(tree.source.view(a, b)) for key, a, b in tree.items(start)}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_items, st.binary(max_size=4))
def test_what_lmdb_wrote(tmp_path: Path, items: dict[bytes, bytes], start: bytes) -> None:
    """Short and long keys, values in the leaf and on pages of their own, trees of some levels."""
    tree = tree_of(tmp_path / "db", items)
    assert len(tree) == len(items)
    assert read(tree) == items
    assert list(read(tree)) == sorted(items)
    assert list(read(tree, start)) == [key for key in sorted(items) if key >= start]
    for key in [*items, start]:
        found = tree.get(key)
        assert (found and bytes(tree.source.view(*found[1:]))) == items.get(key)
    last = tree.last()
    assert (last and last[0]) == max(items, default=None)


def test_after_changes_and_deletions(tmp_path: Path) -> None:
    """The newest of the two heads counts, whichever it is."""
    rng, wanted = random.Random(1), {}
    for turn in range(7):
        environment = lmdb.open(str(tmp_path / "db"), map_size=1 << 24)
        with environment.begin(write=True) as transaction:
            for _ in range(300):
                key = b"%04d" % rng.randrange(900)
                if rng.random() < 0.3:
                    transaction.delete(key)
                    wanted.pop(key, None)
                else:
                    wanted[key] = bytes([turn]) * rng.randrange(5000)
                    transaction.put(key, wanted[key])
        environment.close()
        assert read(Tree(Source.open(tmp_path / "db" / "data.mdb"))) == wanted


def test_databases_of_another_kind(tmp_path: Path) -> None:
    """With names; with several values for a key; of a 32-bit or big-endian machine."""
    environment = lmdb.open(str(tmp_path / "named"), max_dbs=2)
    environment.open_db(b"one")
    environment.close()
    data = (made(tmp_path / "db") / "data.mdb").read_bytes()
    flags = bytearray(data)
    flags[92] = flags[4096 + 92] = 4  # MDB_DUPSORT
    (tmp_path / "several").write_bytes(flags)
    (tmp_path / "narrow").write_bytes(data[:12] + data[16:])
    (tmp_path / "turned").write_bytes(data[:16] + data[19:15:-1] + data[20:])
    for name in ("named", "several", "narrow", "turned"):
        with pytest.raises(ufkit.FormatError) as raised:
            ufkit.open_dataset(tmp_path / name)
        assert raised.value.diagnostic.code == "UFW304"


@pytest.mark.parametrize("seed", range(300))
def test_damage_ends_in_an_error_of_ours(tmp_path: Path, seed: int) -> None:
    """LMDB itself ends the process at about one in ten of these."""
    data = bytearray(_whole(tmp_path))
    rng = random.Random(seed)
    pages = len(data) // 4096
    for _ in range(rng.choice((1, 3, 20))):
        page = rng.randrange(pages)
        data[page * 4096 + rng.randrange(170 if page < 2 else 60)] = rng.randrange(256)
    (tmp_path / "damaged.mdb").write_bytes(data)
    with suppress(ufkit.FormatError):
        dataset = ufkit.open_dataset(tmp_path / "damaged.mdb")
        assert all(dataset.key(at) for at in range(0, len(dataset), 7))
        assert ufkit.summarize_dataset(dataset).looked_at == len(dataset)
        assert all(record.array().size for record in dataset)


def test_nothing_is_added_to_what_is_damaged(tmp_path: Path) -> None:
    """Where LMDB would look first: the heads and the way to the last key."""
    whole = _whole(tmp_path)
    root = int.from_bytes(whole[4096 + 128 : 4096 + 136], "little")  # of the second head, the newer
    for byte in (0, 10, 12):  # number, kind and nodes of the page that all begins with
        data = bytearray(whole)
        data[root * 4096 + byte] ^= 0xFF
        (tmp_path / "damaged.mdb").write_bytes(data)
        with pytest.raises(ufkit.FormatError) as raised:
            ufkit.create_dataset(tmp_path / "damaged.mdb", mode="append")
        assert raised.value.diagnostic.code == "UFW305"
        assert (tmp_path / "damaged.mdb").read_bytes() == data


_made: list[bytes] = []


def _whole(folder: Path) -> bytes:
    """A database of 80 records on two levels, every third on pages of its own; made once."""
    if not _made:
        items = {b"%08d_" % n: record(n, size=9 if n % 3 else 1).to_bytes() for n in range(80)}
        _made.append((foreign(folder / "db", items) / "data.mdb").read_bytes())
    return _made[0]
