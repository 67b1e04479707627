"""The types of layers that are known: of Caffe, of SSD, and of UFW.

What they compute is not in here; nothing of UFW's is public that would say it.
"""

from ufkit.ufw.layers import arrange, data, dense, detect, spatial

LAYERS = {
    entry.name: entry
    for module in (data, spatial, dense, arrange, detect)
    for entry in module.LAYERS
}


def works(type_: str) -> bool:
    """Whether layers of that type multiply and accumulate."""
    entry = LAYERS.get(type_)
    return entry is not None and entry.macs is not None


__all__ = ["LAYERS", "works"]
