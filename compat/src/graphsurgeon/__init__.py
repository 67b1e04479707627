"""Editing of TensorFlow graphs, with the names of NVIDIA's `graphsurgeon`, without TensorFlow.

    import graphsurgeon as gs

    graph = gs.DynamicGraph("frozen.pb")
    graph.collapse_namespaces({"Postprocessor": gs.create_plugin_node("NMS", op="NMS_TRT")})
    graph.write("edited.pb")

Not here: TensorBoard files, graphs that run.
"""

from graphsurgeon import extras as extras
from graphsurgeon.dynamic_graph import DynamicGraph as DynamicGraph
from graphsurgeon.node_manipulation import create_node as create_node
from graphsurgeon.node_manipulation import create_plugin_node as create_plugin_node
from graphsurgeon.node_manipulation import extract_numpy_array as extract_numpy_array
from graphsurgeon.node_manipulation import update_node as update_node
from graphsurgeon.static_graph import StaticGraph as StaticGraph

__version__ = "0.4.6"  # of NVIDIA's, whose names these are
