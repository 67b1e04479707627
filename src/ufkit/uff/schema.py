"""The UFF schema, read from `uff.proto` beside this module."""

from __future__ import annotations

from importlib.resources import files

from ufkit.wire.proto import parse_proto

SCHEMA = parse_proto(files(__package__).joinpath("uff.proto").read_text())
METAGRAPH = SCHEMA["MetaGraph"]
GRAPH = SCHEMA["Graph"]
NODE = SCHEMA["Node"]
DATA = SCHEMA["Data"]
DESCRIPTOR = SCHEMA["Descriptor"]
