"""`convert-to-uff`: the command lines of NVIDIA's documentation and samples, word for word."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import uff
import ufkit
from ssd_graphs import Detector
from tf_graphs import BY_NAME, const, node, placeholder, saved
from uff.bin.convert_to_uff import main
from uff_contents import everything
from ufkit.wire.message import to_bytes

FLOAT = BY_NAME["float32"]
OUTPUTS = (
    "name_of_output_tensor",
    "prediction/Sigmoid",
    "dense_class/Softmax",
    "dense_regress/BiasAdd",
    "proposal",
)
CONFIG = "def preprocess(dynamic_graph):\n    pass\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def graph(path: Path) -> Path:
    nodes = [node(name, "Relu", "dense", T=FLOAT) for name in OUTPUTS]
    weights = const("w", np.eye(4, dtype=np.float32))
    dense = node("dense", "MatMul", "x", "w", T=FLOAT)
    return saved(path, placeholder("x", -1, 4), weights, dense, *nodes)


@pytest.mark.parametrize(
    ("command", "source", "made", "outputs"),
    [
        # the developer guide, of TensorRT 3 and 4, then of later ones
        (
            (
                "convert-to-uff tensorflow -o name_of_output_uff_file --input-file "
                "name_of_input_pb_file -O name_of_output_tensor"
            ),
            "name_of_input_pb_file",
            "name_of_output_uff_file.uff",
            1,
        ),
        (
            "convert-to-uff input_file -o output_file -O name_of_output_tensor",
            "input_file",
            "output_file.uff",
            1,
        ),
        ("convert-to-uff models/lenet5.pb", "models/lenet5.pb", "models/lenet5.uff", 5),
        # samples: SSD, Faster R-CNN, recommender; and what people write
        (
            (
                "convert-to-uff -p config.py -O dense_class/Softmax -O dense_regress/BiasAdd "
                "-O proposal faster_rcnn.pb"
            ),
            "faster_rcnn.pb",
            "faster_rcnn.uff",
            3,
        ),
        (
            (
                "python3 convert_to_uff.py tensorflow -o sampleMovieLens.uff -t --input-file "
                "sampleMovieLens.pb -O prediction/Sigmoid"
            ),
            "sampleMovieLens.pb",
            "sampleMovieLens.uff",
            1,
        ),
        (
            "python3 convert_to_uff.py sampleMovieLens.pb -p config.py",
            "sampleMovieLens.pb",
            "sampleMovieLens.uff",
            5,
        ),
        ("convert-to-uff -o test.uff --input_file weights.pb", "weights.pb", "test.uff", 5),
        (
            "convert-to-uff --input-file net.pb --output out/net --output-node proposal --text",
            "net.pb",
            "out/net.uff",
            1,
        ),
        (
            "convert-to-uff net.pb -I dense,image,float32,-1,4 -O proposal -q",
            "net.pb",
            "net.uff",
            1,
        ),
        ("convert-to-uff net.pb --preprocessor=config.py --quiet", "net.pb", "net.uff", 5),
    ],
)
def test_it_works_word_for_word(
    folder: Path, command: str, source: str, made: str, outputs: int
) -> None:
    for path in (folder / source, folder / made):
        path.parent.mkdir(exist_ok=True)
    graph(folder / source)
    (folder / "config.py").write_text(CONFIG)
    words = shlex.split(command)
    assert main(words[2:] if words[0] == "python3" else words[1:]) == 0
    with ufkit.open(folder / made) as model:
        assert len(model.graph.outputs) == outputs
        assert not [d for d in ufkit.check(model) if d.severity is ufkit.Severity.ERROR]
    twin = (folder / made).with_suffix(".pbtxt")
    assert twin.exists() == bool({"-t", "--text"} & set(words))


def test_the_sample_of_ssd(folder: Path) -> None:
    """`convert-to-uff frozen_inference_graph.pb -O NMS -p config.py`, its map reduced."""
    detector = Detector(("FeatureExtractor/a", "FeatureExtractor/b"), cast="ToFloat")
    (folder / "frozen_inference_graph.pb").write_bytes(to_bytes(detector.graph_def()))
    (folder / "config.py").write_text(
        "import graphsurgeon as gs\n"
        "import ufkit_compat.tensorflow as tf\n"
        "NMS = gs.create_plugin_node(name='NMS', op='NMS_TRT', dtype=tf.float32, topK=100)\n"
        "Input = gs.create_plugin_node(name='Input', op='Placeholder', dtype=tf.float32,\n"
        "    shape=[1, 3, 300, 300])\n"
        "def preprocess(dynamic_graph):\n"
        "    dynamic_graph.collapse_namespaces({'Postprocessor': NMS, 'Preprocessor': Input,\n"
        "        'ToFloat': Input, 'image_tensor': Input, 'MultipleGridAnchorGenerator': Input})\n"
        "    dynamic_graph.remove(dynamic_graph.graph_outputs)\n"
        "    dynamic_graph.find_nodes_by_op('NMS_TRT')[0].input.remove('Input')\n"
    )
    assert main(shlex.split("frozen_inference_graph.pb -O NMS -p config.py")) == 0
    with ufkit.open("frozen_inference_graph.uff") as model:
        assert model.graph["NMS"].fields["topK_u_int"] == 100
        assert model.graph.outputs == ["NMS"]


@pytest.mark.parametrize("name", ["lenet5", "mlp_mnist", "netvlad"])
def test_equal_to_what_nvidia_wrote(corpus: Path, folder: Path, name: str) -> None:
    assert main([str(corpus / "uff" / f"{name}.pb"), "-o", f"{name}.uff", "-q"]) == 0
    with ufkit.open(f"{name}.uff") as ours, ufkit.open(corpus / "uff" / f"{name}.uff") as theirs:
        assert everything(ours) == everything(theirs)


def test_the_twin_is_that_of_the_corpus(corpus: Path, folder: Path) -> None:
    assert main([str(corpus / "uff" / "lenet5.pb"), "-o", "net.uff", "-t", "-q"]) == 0
    with ufkit.open("net.pbtxt") as twin, ufkit.open(corpus / "uff" / "lenet5.uff") as theirs:
        assert [(n.id, n.inputs) for n in twin.graph] == [(n.id, n.inputs) for n in theirs.graph]


@pytest.mark.parametrize("command", ["tensorflow --input-file net.pb -l", "net.pb --list-nodes"])
def test_nodes_are_listed_and_nothing_is_written(
    folder: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    graph(folder / "net.pb")
    assert main(shlex.split(command)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Loading net.pb"
    assert '3 MatMul: "dense"' in lines
    assert [path.name for path in folder.iterdir()] == ["net.pb"]


def test_what_the_script_left_is_written(folder: Path) -> None:
    graph(folder / "net.pb")
    (folder / "config.py").write_text(
        "def preprocess(graph):\n    graph.remove(graph.graph_outputs[1:])\n"
    )
    assert main(["net.pb", "--write_preprocessed", "-p", "config.py", "-q"]) == 0
    again = uff.from_tensorflow_frozen_model("net_preprocessed.pb", quiet=True)
    assert again == (folder / "net.uff").read_bytes()


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("none.pb", 3, "UFK001"),
        ("page.pb", 3, "UFF001.*a web page"),
        ("net.pb -O nothing", 2, "CNV403"),
        ("net.pb -p none.py", 2, "CMP004"),
        ("net.pb -I dense", 2, "CMP007"),
        ("variables.pb", 4, "CNV402"),
    ],
)
def test_errors_are_one_of_ours_and_leave_nothing(
    folder: Path, command: str, code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    graph(folder / "net.pb")
    (folder / "page.pb").write_text("<html></html>")
    saved(folder / "variables.pb", node("v", "VariableV2"), node("y", "Relu", "v"))
    before = sorted(folder.iterdir())
    assert main(shlex.split(command)) == code
    printed = capsys.readouterr()
    assert re.search(words, printed.err)
    assert "Traceback" not in printed.err
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("command", ["", "a.pb b.pb", "a.pb --input-file b.pb", "a.pb --frob"])
def test_misuse_is_told(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(shlex.split(command))
    assert stopped.value.code == 2
    assert "convert-to-uff: error:" in capsys.readouterr().err


def test_with_debug_the_error_is_raised(folder: Path) -> None:
    graph(folder / "net.pb")
    with pytest.raises(ufkit.RequestError):
        main(["net.pb", "-O", "nothing", "-d", "-q"])


def test_help_says_that_the_script_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "name none that you do not trust" in " ".join(capsys.readouterr().out.split())


def test_its_file_is_a_program_and_loads_no_more_than_it_needs(folder: Path) -> None:
    graph(folder / "net.pb")
    code = (
        "import sys, runpy\n"
        "sys.argv = ['convert_to_uff.py', 'net.pb', '-q', '-O', 'proposal']\n"
        "try:\n    runpy.run_path(sys.argv.pop(1), run_name='__main__')\n"
        "except SystemExit as stop:\n    assert not stop.code, stop.code\n"
        "print([m for m in ('onnx', 'onnxruntime', 'tensorflow', 'click') if m in sys.modules])\n"
    )
    program = uff.__path__[0] + "/bin/convert_to_uff.py"
    code = code.replace("'convert_to_uff.py',", f"'convert_to_uff.py', {program!r},")
    paths = [str(Path(uff.__path__[0]).parent), str(Path(ufkit.__path__[0]).parent)]
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n"
    assert (folder / "net.uff").exists()
