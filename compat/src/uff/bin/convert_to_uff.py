"""convert-to-uff: a frozen TensorFlow graph to UFF, with the options of NVIDIA's command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from uff.converters.tensorflow.conversion import Request, convert
from ufkit.core.diag import UfkitError
from ufkit.core.render import visible
from ufkit_compat.graph_def import graph_def_of

_INTERRUPTED = 130
_DESCRIPTION = "Converts a frozen TensorFlow graph to UFF, as NVIDIA's converter did."
_EPILOG = (
    "The older spelling is taken too: convert-to-uff tensorflow -o net.uff --input-file frozen.pb "
    "-O logits. For conversions to ONNX, and more of UFF: ufkit --help."
)
_SCRIPT = (
    "a Python script whose function `preprocess` edits the graph, a graphsurgeon.DynamicGraph, in "
    "place. It is run as any program: name none that you do not trust"
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("convert-to-uff", description=_DESCRIPTION, epilog=_EPILOG)
    add = parser.add_argument
    add("input_file", nargs="*", help="the graph: a frozen .pb, binary or text")
    add("--input-file", "--input_file", dest="named_file", metavar="FILE", help=argparse.SUPPRESS)
    add("-l", "--list-nodes", action="store_true", help="list the nodes, and convert nothing")
    add("-t", "--text", action="store_true", help="also write the UFF as text (.pbtxt)")
    add("--write_preprocessed", "--write-preprocessed", action="store_true",
        help="also write the graph as the preprocessor left it (_preprocessed.pb)")  # fmt: skip
    add("-q", "--quiet", action="store_true", help="print only warnings and errors")
    add("-d", "--debug", action="store_true", help="print the traceback of an error, too")
    add("-o", "--output", help="the UFF to write; beside the input, called .uff, unless given")
    add("-O", "--output-node", action="append", default=[], metavar="NODE",
        help="a node that is an output, by name or number; repeatable. Without it, those that take "
        "something and that no other takes")  # fmt: skip
    add("-I", "--input-node", action="append", default=[], metavar="NODE,NAME,TYPE,SIZES",
        help="put an input of that name, type and shape in the place of a node; repeatable: "
        "-I image,input,float32,-1,28,28,1")  # fmt: skip
    add("-p", "--preprocessor", metavar="SCRIPT", help=_SCRIPT)
    add("--modern", action="store_true",
        help="not of NVIDIA's: keep every constant, follow newer operations, take out what only "
        "training needs")  # fmt: skip
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives its exit code: 0, 2 misuse, 3 unreadable, 4 not convertible."""
    parser = _parser()
    args = parser.parse_args(arguments)
    files = args.input_file[1:] if args.input_file[:1] == ["tensorflow"] else args.input_file
    files = [*files, *([args.named_file] if args.named_file else [])]
    if len(files) != 1:
        parser.error(f"one input file is wanted, {len(files)} are given")
    request = Request(
        output_nodes=args.output_node,
        preprocessor=args.preprocessor,
        output_filename=os.path.splitext(args.output or files[0].rstrip(os.sep))[0] + ".uff",
        text=args.text,
        write_preprocessed=args.write_preprocessed,
        input_node=args.input_node,
        list_nodes=args.list_nodes,
        quiet=args.quiet,
        debug_mode=args.debug,
        modern=args.modern,
    )
    try:
        if not args.quiet:
            print("Loading", visible(files[0]))
        convert(graph_def_of(files[0]), request)
        sys.stdout.flush()
    except UfkitError as error:
        if args.debug:
            raise
        print(error, file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:  # `convert-to-uff net.pb -l | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return _INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
