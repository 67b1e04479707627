"""What the drop-ins for NVIDIA's `uff` and `graphsurgeon` share: messages, graphs, a shim.

`ufkit_compat.tensorflow` is the module that scripts import in place of TensorFlow where they only
name types and read graphs.
"""
