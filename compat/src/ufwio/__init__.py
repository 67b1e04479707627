"""Datasets for Sophon's quantisation tools, with the names of `ufwio`.

    import ufwio

    with ufwio.LMDB_Dataset("calibration") as dataset:
        dataset.put(images)
    for key, array in ufwio.lmdb_data("calibration"):
        print(key, array.shape)

Not here: umodels; see `ufkit.open_net`.
"""

from ufwio.io import LMDB_Dataset as LMDB_Dataset
from ufwio.io import lmdb_data as lmdb_data
