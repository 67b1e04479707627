"""UFF's messages and numbers as protobuf would generate them.

meta = uff_pb2.MetaGraph()
meta.ParseFromString(open("net.uff", "rb").read())
[node.id for node in meta.graphs[0].nodes if node.operation == "Input"]
"""

from __future__ import annotations

from ufkit.uff.schema import SCHEMA
from ufkit_compat.proto import class_of

MetaGraph = class_of(SCHEMA["MetaGraph"])
Graph = class_of(SCHEMA["Graph"])
Node = class_of(SCHEMA["Node"])
Descriptor = class_of(SCHEMA["Descriptor"])
Data = class_of(SCHEMA["Data"])
DimensionOrders = class_of(SCHEMA["DimensionOrders"])
ListString = class_of(SCHEMA["ListString"])
ListDouble = class_of(SCHEMA["ListDouble"])
ListBool = class_of(SCHEMA["ListBool"])
ListInt64 = class_of(SCHEMA["ListInt64"])
ListDataType = class_of(SCHEMA["ListDataType"])
ListDimensionOrders = class_of(SCHEMA["ListDimensionOrders"])
Data.ONEOFS = {"data_oneof": "type"}  # NVIDIA's name of it

DT_INVALID, DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_FLOAT16, DT_FLOAT32 = SCHEMA.enums[
    "uff.DataType"
].numbers.values()
OE_ZERO, OE_SPECIAL, OE_INCREMENT, OE_DECREMENT = SCHEMA.enums["uff.OrderEnum"].numbers.values()
