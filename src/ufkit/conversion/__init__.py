"""From one format into another, with proof.

Not here: training, quantisation, anything that needs TensorFlow.
"""
