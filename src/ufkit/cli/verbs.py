"""The list of verbs: all that `ufkit --help` needs to know, so that it loads nothing else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A verb: the command `command` of the module `ufkit.cli.<name>`."""

    name: str
    group: str
    summary: str


VERBS = {
    entry.name: entry
    for entry in (
        Entry("info", "Look", "Say what a file is: inputs, outputs, operations, weights."),
        Entry("check", "Look", "Find what is wrong with a file, before it goes wrong for you."),
        Entry("view", "Look", "Show a model, a net or a dataset in the browser."),
        Entry("diff", "Look", "Say what differs between two models, weights included."),
        Entry("show", "Look", "Draw samples of a dataset on one picture, with their boxes."),
        Entry("dump", "Look", "Print a file, or some of its nodes, as text or JSON."),
        Entry("recover", "Get out", "Save what is intact of a damaged file, list what is not."),
        Entry(
            "convert",
            "Get out",
            "Convert UFF to ONNX and back, a file between its forms, datasets.",
        ),
        Entry("edit", "Change", "Cut out parts, rename, fold, mend, make up lost weights."),
        Entry("weights", "Get out", "List the weights, or write them to .npz or .safetensors."),
        Entry("run", "Run", "Run a UFF or ONNX model on arrays of yours."),
        Entry(
            "quantize", "Quantise", "Turn a Caffe or UFW net into integers, and say what it costs."
        ),
        Entry("dequantize", "Quantise", "Turn the integers of a net back into floats."),
        Entry("completion", "Shell", "Print the script that completes ufkit's words in a shell."),
    )
}

INTRO = (
    "Opens UFF files (TensorRT's Universal Framework Format), says what is in them, checks and "
    "runs them, and converts them to ONNX; ONNX models and TensorFlow's frozen graphs become UFF. "
    "Caffe and UFW nets are shown, checked and quantised, their datasets (LMDB) made and "
    "exchanged. No TensorFlow, no TensorRT, no Caffe."
)
EXAMPLES = (
    ("ufkit info model.uff", "what is this?"),
    ("ufkit check model.uff", "is anything wrong with it?"),
    ("ufkit convert model.uff model.onnx --verify", "ONNX, proven equal"),
)
CODES = (
    (0, "all is well"),
    (1, "findings: errors, a failed verification, a difference, a loss"),
    (2, "the command makes no sense, or does not fit the file"),
    (3, "a file cannot be read or written, or is malformed"),
    (4, "something in the file has no equivalent in the target"),
    (5, "an optional library is missing; the message names it"),
    (70, "a fault in ufkit itself, or out of memory"),
    (130, "interrupted"),
)
OPTIONS = (
    ("-h, --help", "Show this message; after a verb, that verb's."),
    ("--version", "Show the version."),
    ("-q, --quiet", "Only results and errors: no progress, no notes."),
    ("--debug", "Show where in ufkit an error comes from."),
)


def plain_help() -> str:
    """The help of `ufkit` itself for what is no terminal."""
    import textwrap

    lines = ["Usage: ufkit [OPTIONS] VERB [ARGUMENTS]", ""]
    lines += [*textwrap.wrap(INTRO, 78, initial_indent="  ", subsequent_indent="  "), ""]
    for group in dict.fromkeys(entry.group for entry in VERBS.values()):
        lines.append(f"{group}:")
        lines += [f"  {e.name:12}{e.summary}" for e in VERBS.values() if e.group == group]
        lines.append("")
    lines += ["Options:", *(f"  {flags:14}{text}" for flags, text in OPTIONS), ""]
    lines += ["Examples:", *(f"  {command:46}{text}" for command, text in EXAMPLES), ""]
    lines += ["Exit codes:", *(f"  {code:<5}{text}" for code, text in CODES), ""]
    return "\n".join([*lines, "ufkit VERB --help tells more.", ""])
