"""UFF, NVIDIA's Universal Framework Format: model, text forms, operations, checks, evaluation.

Not here: ONNX, TensorFlow, plugins' code, engines.
"""
