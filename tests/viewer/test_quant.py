"""The routes of the page on quantisation, and of tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from ufkit.core.diag import FormatError
from ufkit.ufw.io import save_net
from ufkit.ufw.net import Net
from ufkit.ufw.quant import BM1880
from ufkit.ufw.quantize import quantize
from ufkit.ufw.table import Table, open_table, save_table
from ufkit.viewer.graph.layouter import Layouter
from ufkit.viewer.openers import Wish
from ufkit.viewer.session import Session
from ufkit.viewer.web.routes import application
from ufw.tiny import TABLE, saved, tiny_net

Start = Callable[..., tuple[Session, TestClient]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    layouter = Layouter(tmp_path / "cache")
    sessions = []

    def open_files(*paths: Path, table: Path | None = None) -> tuple[Session, TestClient]:
        session = Session([*map(str, paths)], Wish(table=open_table(table) if table else None))
        sessions.append(session)
        return session, TestClient(application(session, layouter))

    yield open_files
    for session in sessions:
        session.close()
    layouter.close()


def integers(folder: Path, *, per_channel: bool = False) -> Path:
    net = tiny_net()
    quantize(net, Table(dict(TABLE)), per_channel=per_channel)
    return saved(net, folder, "net.int8umodel")


def table_of(folder: Path) -> Path:
    path = folder / "table.json"
    path.write_text(json.dumps(TABLE))
    return path


def test_a_float_net_beside_its_integers(start: Start, tmp_path: Path) -> None:
    floats, other = saved(tiny_net(), tmp_path), integers(tmp_path, per_channel=True)
    for paths in ((floats, other), (other, floats)):
        session, client = start(*paths)
        assert session.pages == ["quant", "compare"]
        about = client.get("/api/quant").json()
        assert about["floats"] == paths.index(floats)
        assert [layer["name"] for layer in about["layers"]] == ["conv", "ip"]
        assert about["table"] is False
        picture, item = about["layers"][0]["at"]
        model = session.subjects[about["floats"]].model
        assert model is not None
        assert model.pictures[picture].items[item].key == "conv"
        row = client.get("/api/quant/layer", params={"layer": 0}).json()
        weights = row["parts"]["weights"]
        assert weights["numbers"] == 8
        assert len(weights["channels"]["sqnr"]) == 2
        assert weights["scale"][0] < weights["scale"][1]
        assert 40 < weights["sqnr"] < 60


def test_a_channel_of_zeros_that_does_not_come_out_as_zeros_is_the_worst(
    start: Start, tmp_path: Path
) -> None:
    """Noise without a signal is no exact channel."""
    net = tiny_net()
    kernels = net["conv"].blobs[0].array().copy()
    kernels[1] = 0
    net["conv"].blobs[0].put(kernels)
    _, client = start(saved(net, tmp_path), integers(tmp_path, per_channel=True))
    channels = client.get("/api/quant/layer", params={"layer": 0}).json()["parts"]["weights"][
        "channels"
    ]
    assert channels["worst"] == 1
    assert channels["sqnr"][1] == -300


def test_a_float_net_beside_a_table(start: Start, tmp_path: Path) -> None:
    session, client = start(saved(tiny_net(), tmp_path), table_of(tmp_path))
    assert session.pages == ["quant"]
    assert session.subjects[1].pages == ["thresholds"]
    about = client.get("/api/quant").json()
    assert (about["profiles"], about["profile"]) == (["ufw", "bm1880"], 0)
    one = client.get("/api/quant/layer", params={"layer": 0}).json()
    each = client.get("/api/quant/layer", params={"layer": 0, "channels": 1}).json()
    bm1880 = client.get("/api/quant/layer", params={"layer": 0, "profile": 1}).json()
    assert one["thresholds"] == [2.0, 4.0]
    assert (len(one["shift"]), len(each["shift"])) == (1, 2)
    assert each["parts"]["weights"]["sqnr"] > one["parts"]["weights"]["sqnr"]
    assert bm1880["parts"]["bias"]["scale"] != one["parts"]["bias"]["scale"]
    rows = client.get("/api/files/1/table").json()["rows"]
    assert {row["name"]: row["threshold"] for row in rows} == TABLE


def test_a_table_with_shifts_is_of_the_bm1880(start: Start, tmp_path: Path) -> None:
    net = tiny_net()
    report = quantize(net, Table(dict(TABLE)), BM1880)
    table = tmp_path / "table.prototxt"
    save_table(report.table, table)
    whole, floats = saved(net, tmp_path, "int8.caffemodel"), saved(tiny_net(), tmp_path)
    _, client = start(floats, table)
    assert client.get("/api/quant").json()["profile"] == 1
    session, client = start(floats, whole, table=table)
    assert session.pages[0] == "quant"
    row = client.get("/api/quant/layer", params={"layer": 0}).json()
    assert row["thresholds"] == [2.0, 4.0]
    session, client = start(floats, whole)  # without the table nothing is known of them
    row = client.get("/api/quant/layer", params={"layer": 0}).json()
    assert row["failed"][0]["code"] == "UFW208"


def test_histograms_of_both_grids(start: Start, tmp_path: Path) -> None:
    _, client = start(saved(tiny_net(), tmp_path), integers(tmp_path))
    for part, count in ((0, 8), (1, 2)):
        for grid in (0, 1):
            params = {"layer": 0, "part": part, "grid": grid}
            found = client.get("/api/quant/histogram", params=params).json()
            assert [sum(counts) for counts in found["counts"]] == [count, count]
            assert len(found["edges"]) == len(found["counts"][0]) + 1
    params = {"layer": 1, "part": 1}  # it has no biases
    assert client.get("/api/quant/histogram", params=params).status_code == 404


@pytest.mark.parametrize(
    ("route", "query"),
    [
        ("layer", "layer=2"), ("layer", "layer=-1"), ("layer", ""), ("layer", "layer=0&profile=7"),
        ("histogram", "layer=0&part=2"), ("histogram", "layer=0&grid=9"),
        ("layer", "layer=../../etc/passwd"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_refused(start: Start, tmp_path: Path, route: str, query: str) -> None:
    _, client = start(saved(tiny_net(), tmp_path), integers(tmp_path))
    answer = client.get(f"/api/quant/{route}?{query}")
    assert answer.status_code == 404
    assert answer.json()["diagnostics"][0]["code"] == "VWR002"


def test_layers_without_thresholds_say_so(start: Start, tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    table.write_text('{"data": 2.0, "conv": 4.0}')
    _, client = start(saved(tiny_net(), tmp_path), table)
    rows = [client.get("/api/quant/layer", params={"layer": at}).json() for at in (0, 1)]
    assert "parts" in rows[0]
    assert rows[1]["failed"][0]["code"] == "UFW202"


def test_other_pairs_have_no_such_page(start: Start, tmp_path: Path) -> None:
    first, second = saved(tiny_net(), tmp_path), saved(tiny_net(), tmp_path, "b.caffemodel")
    session, client = start(first, second)
    assert session.pages == ["compare"]
    assert client.get("/api/quant").status_code == 404
    other = Net.new("other")
    save_net(other, tmp_path / "empty.caffemodel")
    assert start(first, tmp_path / "empty.caffemodel")[0].quantisation is None
    alone, _ = start(table_of(tmp_path))
    assert (alone.pages, alone.subjects[0].pages) == ([], ["thresholds"])


def test_json_that_is_no_table_is_refused(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "package.json"
    path.write_text('{"name": "x"}')
    with pytest.raises(FormatError, match="UFW203"):
        start(path)
