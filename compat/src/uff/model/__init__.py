"""Building UFF files node by node.

meta = uff.model.MetaGraph()
graph = meta.add_graph("main")
x = graph.input([-1, 3, 8, 8], np.float32, "x")
graph.mark_output(graph.activation(x, "relu", "y"), "out")
data = meta.to_uff().SerializeToString()
"""

from uff.model.descriptor import Descriptor as Descriptor
from uff.model.descriptor import DescriptorOp as DescriptorOp
from uff.model.graph import Graph as Graph
from uff.model.graph import Node as Node
from uff.model.meta_graph import MetaGraph as MetaGraph
from uff.model.values import FieldType as FieldType
from uff.model.values import List as List
from uff.model.values import create_data as create_data

__version__ = "0.6.9"  # of NVIDIA's, whose names these are and whose files are written
