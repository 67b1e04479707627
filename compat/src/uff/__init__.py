"""TensorFlow graphs to UFF, with the names of NVIDIA's `uff`, without TensorFlow.

    import uff

    uff.from_tensorflow_frozen_model("frozen.pb", ["logits"], output_filename="net.uff")

`uff.model` builds UFF files node by node. Not here: converters of other formats; see `ufkit`.
"""

from uff import model as model
from uff.converters.tensorflow.conversion_helpers import from_tensorflow as from_tensorflow
from uff.converters.tensorflow.conversion_helpers import (
    from_tensorflow_frozen_model as from_tensorflow_frozen_model,
)

__version__ = model.__version__
