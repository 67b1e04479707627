"""Recovering damaged files: what lies outside the damage comes back, and nothing else does."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ufkit
from attacks import forge
from graphs import small_net
from robustness.nets import NETS, operations
from ufkit.core.files import Source
from ufkit.uff.io import write_to
from ufkit.uff.recover import LAYOUT, Recovered
from ufkit.wire.message import to_bytes
from ufkit.wire.reader import scan
from ufkit.wire.salvage import salvage

ROOT = Path(__file__).resolve().parents[2]
NET = to_bytes(small_net().meta.message)


def recovered(data: bytes) -> Recovered:
    return ufkit.recover(Source(data, "damaged.uff"))


def written(found: Recovered) -> bytes:
    out = io.BytesIO()
    write_to(found.meta, out)
    return out.getvalue()


def codes(found: Recovered) -> list[str]:
    return [item.code for item in found.diagnostics]


@dataclass(frozen=True)
class Whole:
    """A node or an entry of referenced data of an undamaged file, its tag and length included."""

    start: int
    stop: int
    value: bytes


def parts(data: bytes) -> list[Whole]:
    source = Source(data)
    fields = scan(source, 0, len(data))
    records = list(fields.get(5, []))
    for _, _, start, stop in fields.get(4, []):
        records += scan(source, start, stop).get(2, [])
    return [Whole(begin, stop, data[value:stop]) for begin, _, value, stop in sorted(records)]


def values(found: Recovered) -> Counter[bytes]:
    messages = [node.message for graph in found.meta.graphs for node in graph]
    messages += found.meta.referenced_data.entries()
    return Counter(bytes(message.span.view()) for message in messages if message.span.nbytes)


# -- undamaged files -------------------------------------------------------------------------


@pytest.mark.parametrize("data", [NET, *NETS], ids=["small", "convolutions", "shapes", "values"])
def test_an_undamaged_file_comes_back_as_it_is(data: bytes) -> None:
    found = recovered(data)
    assert written(found) == data
    assert (found.ok, found.lost, found.diagnostics) == (True, (), ())


def test_real_files_come_back_as_they_are(corpus: Path) -> None:
    names = [path.name for path in (corpus / "uff").glob("*.uff") if "lfs" not in path.name]
    assert len(names) > 5
    for name in names:
        path = corpus / "uff" / name
        found = ufkit.recover(path)
        assert written(found) == path.read_bytes(), name
        assert (found.ok, found.lost, found.diagnostics) == (True, (), ()), name


# -- files cut short -------------------------------------------------------------------------


def test_every_truncation_of_a_real_file(corpus: Path) -> None:
    """Nothing is raised, and the longer the file, the more of it is kept."""
    data = memoryview((corpus / "uff" / "lenet5.uff").read_bytes())
    whole = parts(bytes(data))
    structure = {part.start + k for part in whole for k in range(12)}
    kept = 0
    for stop in range(len(data)):
        if stop in structure or stop % 499 == 0:
            found = recovered(bytes(data[:stop]))
            count = sum(map(len, found.meta.graphs)) + len(found.meta.referenced_data)
            assert not found.ok, stop
            assert count >= sum(part.stop <= stop for part in whole), stop
        elif stop % 7 == 0 or stop < 3000:  # inside of names and weights
            lost = salvage(Source(data[:stop]), LAYOUT).lost
            assert stop - sum(end - start for start, end in lost) >= kept, stop
            kept = stop - sum(end - start for start, end in lost)


@pytest.mark.parametrize("data", [NET, NETS[2]], ids=["small", "values"])
def test_every_truncation_keeps_what_is_whole(data: bytes) -> None:
    whole = parts(data)
    for stop in range(0, len(data), 3):
        found = recovered(data[:stop])
        kept = values(found)
        assert not Counter(part.value for part in whole if part.stop <= stop) - kept, stop
        if stop % 16 == 0:
            again = ufkit.open(Source(written(found)))
            ufkit.summarize(again)
            list(ufkit.check(again))
        # nothing tells of a loss where the end is one of a part, and nobody names what followed
        if data is NET and any(p.start > stop and b"orders_" not in p.value for p in whole):
            assert not found.ok, stop


def test_a_constant_that_the_end_cuts_is_filled_up_and_named() -> None:
    begin = NET.rindex(b"weights_dense/kernel")
    kernel = ufkit.constant(ufkit.open(Source(NET)).graph["dense/kernel"]).numpy()
    values_at = NET.index(kernel.tobytes())
    assert values_at > begin
    found = recovered(NET[: values_at + 1000])
    again = ufkit.open(Source(written(found)))
    for meta in (found.meta, again):
        read = ufkit.constant(meta.graph["dense/kernel"]).numpy()
        assert np.array_equal(read.ravel()[:250], kernel.ravel()[:250])
        assert not read.ravel()[250:].any()
    (finding,) = [item for item in found.diagnostics if item.code == "UFF513"]
    assert "1,000 of the 1,280 bytes of 'weights_dense/kernel'" in finding.message
    assert found.lost == ()
    assert not found.ok


def test_axis_orders_that_are_lost_are_what_their_names_spell() -> None:
    whole = ufkit.open(Source(NET)).referenced_data
    found = recovered(NET[: NET.index(b"\x0a", NET.index(b"MarkOutput_0") + 30)])
    again = ufkit.open(Source(written(found)))
    for name in ("orders_N+C_+CK", "orders_NC_CK", "orders_N+C"):
        assert again.referenced_data[name] == whole[name]
    assert "'orders_N+C_+CK' is what its name says" in [d.message for d in found.diagnostics]


def test_a_constant_of_which_less_than_half_is_there_is_lost() -> None:
    kernel = ufkit.constant(ufkit.open(Source(NET)).graph["dense/kernel"]).numpy()
    found = recovered(NET[: NET.index(kernel.tobytes()) + 639])
    assert "weights_dense/kernel" not in found.meta.referenced_data
    assert "UFF513" not in codes(found)
    assert any("'weights_dense/kernel' is named by" in d.message for d in found.diagnostics)


def test_an_empty_file_gives_an_empty_one() -> None:
    found = recovered(b"")
    assert not found.ok
    assert ufkit.open(Source(written(found))).graphs == []


# -- damage in the middle --------------------------------------------------------------------

FILES = [NET, (ROOT / "examples" / "digits.uff").read_bytes(), *NETS, *operations()[::12]]
PARTS = [parts(data) for data in FILES]


@st.composite
def damages(draw: st.DrawFn) -> tuple[int, int, int, bytes]:
    """Which file, and which bytes of it become which others: often near where parts begin."""
    number = draw(st.integers(0, len(FILES) - 1))
    data = FILES[number]
    near = draw(st.sampled_from(PARTS[number])).start + draw(st.integers(-8, 16))
    at = draw(st.one_of(st.just(near), st.integers(0, len(data) - 1)))
    at = min(max(at, 0), len(data) - 1)
    size = draw(st.integers(1, 200))
    match draw(st.sampled_from(["flip", "overwrite", "zero", "insert", "delete"])):
        case "flip":
            return number, at, at + 1, bytes([data[at] ^ 1 << draw(st.integers(0, 7))])
        case "overwrite":
            new = draw(st.binary(min_size=1, max_size=40))
            return number, at, min(at + len(new), len(data)), new
        case "zero":
            return number, at, min(at + size, len(data)), bytes(size)
        case "insert":
            return number, at, at, draw(st.binary(min_size=1, max_size=40))
    return number, at, min(at + size, len(data)), b""


@settings(max_examples=400, derandomize=True)
@given(damages())
def test_what_lies_outside_the_damage_is_recovered(damage: tuple[int, int, int, bytes]) -> None:
    number, start, stop, new = damage
    data = FILES[number]
    wanted = [p.value for p in PARTS[number] if p.stop <= start or p.start >= stop]
    damaged = data[:start] + new + data[stop:]
    try:
        found = recovered(damaged)
    except ufkit.FormatError:
        assert not wanted or start < 8  # it begins like a file of another kind now
        return
    # Where nothing but the head of a part is gone, its fields may be taken for the end of the one
    # before: a length that was changed would look the same. No byte of either is lost then.
    missing = Counter(wanted) - values(found)
    assert all(any(kept.startswith(value) for kept in values(found)) for value in missing)
    assert missing.total() <= 1
    again = ufkit.open(Source(written(found)))
    list(ufkit.check(again))
    invented = values(found) - Counter(p.value for p in PARTS[number])
    assert sum(invented.values()) <= 1  # the part that was hit, where its lengths still fit


@pytest.mark.parametrize(
    ("what", "bit"),
    # The highest bit makes a length of one byte take the tag behind it for its second: a graph
    # loses its id by that.
    [(what, bit) for what in ("graph", "node", "data") for bit in range(8 - (what == "graph"))],
)
def test_a_changed_length_loses_nothing(what: str, bit: int) -> None:
    """Not even the part whose length it is."""
    at = {
        "graph": NET.index(b"\x0a\x04main") - 1,
        "node": NET.index(b"\x0a\x04relu") - 1,
        "data": NET.rindex(b"\x0a\x11weights_conv/bias") - 1,
    }[what]
    damaged = bytearray(NET)
    damaged[at] ^= 1 << bit
    found = recovered(bytes(damaged))
    assert found.ok
    assert set(codes(found)) <= {"UFF514"}
    assert written(found) == NET


def test_an_overwritten_node_is_named_by_those_who_take_it() -> None:
    at = NET.index(b"\x0a\x04relu") - 2
    found = recovered(NET[:at] + b"\xff" * 8 + NET[at + 8 :])
    assert len(found.meta.graph) == len(ufkit.open(Source(NET)).graph) - 1
    lost, missing = found.diagnostics[:2]
    assert (lost.code, lost.where.start) == ("UFF511", at)
    assert "behind node 'conv/add'" in lost.message
    assert missing.where.node == "main/relu"
    assert missing.message == "node 'relu' is named by 'pool' and is not there"


def test_a_lost_output_is_said() -> None:
    at = NET.index(b"\x0a\x0cMarkOutput_0")
    found = recovered(NET[:at] + b"\xff" * 8 + NET[at + 8 :])
    assert any("no MarkOutput" in item.message for item in found.diagnostics)


def test_a_destroyed_head_is_put_in() -> None:
    at = NET.index(b"\x0a\x05image")
    found = recovered(bytes(at - 2) + NET[at - 2 :])
    assert found.meta.graph.id == "main"
    assert len(found.meta.graph) == len(ufkit.open(Source(NET)).graph)
    assert found.meta.version == 1
    assert codes(found) == ["UFF511", "UFF514", "UFF514", "UFF514"]


def test_a_first_node_of_another_length_where_the_graph_has_lost_its_head() -> None:
    at = NET.index(b"\x0a\x05image")
    for length in range(1, 100):
        found = recovered(NET[:4] + NET[at - 2 : at - 1] + bytes([length]) + NET[at:])
        assert len(found.meta.graph) >= len(ufkit.open(Source(NET)).graph) - 1


def test_fields_of_a_node_without_its_head_are_not_the_end_of_the_one_before() -> None:
    """Each has a `dtype` of its own, and a node has one."""
    at = NET.index(b"\x0a\x09conv/bias") - 2
    stop = NET.index(b"Const", at) + 5
    found = recovered(NET[:at] + NET[stop:])
    kept = found.meta.graph["conv/kernel"].message.span
    assert kept.nbytes == ufkit.open(Source(NET)).graph["conv/kernel"].message.span.nbytes
    assert "UFF511" in codes(found)


def test_what_is_left_without_a_version_is_a_file_that_opens() -> None:
    found = recovered(FILES[12][196:])
    assert "UFF514" in codes(found)
    assert ufkit.open(Source(written(found))).version == 1


def test_weights_are_not_taken_for_nodes() -> None:
    """Small integers look like tags and lengths more than anything else."""
    random = np.random.default_rng(0)
    values_ = random.integers(0, 43, 1 << 20).astype(np.int8)
    b = ufkit.Builder()
    b.const("a", values_)
    b.const("b", values_[:100])
    b.output("a")
    data = to_bytes(b.meta.message)
    at = data.rindex(b"weights_a")
    found = recovered(data[: at - 2] + data[at:])
    assert [node.id for node in found.meta.graph] == ["a", "b", "MarkOutput_0"]
    assert list(found.meta.referenced_data) == ["weights_b"]


def test_nothing_is_copied_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "damaged.uff"
    path.write_bytes(NET[:-20])
    with ufkit.recover(path).meta as meta:
        data = {entry.get("key"): entry for entry in meta.referenced_data.entries()}
        made = {name for name, entry in data.items() if entry.span.source is not meta.source}
        assert made == {"orders_NC_CK"}  # the name tells what it was


@pytest.mark.parametrize("filling", [b"\0", b"\x12\x05\x0a", b"\x2a\x0a\x0a\x02ab\x12"])
def test_hostile_bytes_are_left_behind_in_a_time_that_grows_with_them(filling: bytes) -> None:
    found = recovered(NET[:-1] + filling * ((1 << 18) // len(filling)) + NET)
    assert len(found.meta.graphs) == 2


# -- what is no UFF, and other forms ---------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff\xd8\xff\xe0\0\x10JFIF" + bytes(1000), "of no kind that is known"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "Git LFS pointer"),
        (forge.put(1, forge.put(1, "x") + forge.put(2, "Placeholder")), "a TensorFlow graph"),
        (b"PK\x03\x04" + NET, "a ZIP archive"),
        (b"plain", "plain text"),
    ],
)
def test_what_is_no_uff_is_named(data: bytes, said: str) -> None:
    with pytest.raises(ufkit.FormatError, match=said) as caught:
        recovered(data)
    assert caught.value.diagnostic.code == "UFF001"


def test_real_tensorflow_graphs_are_no_uff(corpus: Path) -> None:
    for path in (corpus / "uff").glob("*.pb"):
        with pytest.raises(ufkit.FormatError, match="a TensorFlow graph"):
            ufkit.recover(path)


def test_text_is_kept_up_to_where_it_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "net.pbtxt"
    ufkit.save(small_net().meta, path, full=True)
    whole = path.read_text()
    assert ufkit.recover(path).ok
    path.write_text(whole[: whole.index('"pool"') + 3])
    found = ufkit.recover(path)
    ids = [node.id for node in small_net().graph]
    assert [node.id for node in found.meta.graph] == ids[: ids.index("pool")]
    begin = whole.index("{", whole.rindex("nodes", 0, whole.index('"pool"'))) + 1
    assert found.lost == ((begin, whole.index('"pool"') + 3),)
    assert found.diagnostics[0].where.line == whole[: whole.index('"pool"')].count("\n") + 1


def test_json_must_be_whole(tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    ufkit.save(small_net().meta, path)
    assert ufkit.recover(path).ok
    path.write_text(path.read_text()[:-100])
    with pytest.raises(ufkit.FormatError, match="UFK111"):
        ufkit.recover(path)
