"""Nets and mean images of Caffe and UFW: from one form into another, and means to .npy."""

from __future__ import annotations

import io
from tokenize import TokenError
from typing import Any

import numpy as np

from ufkit.conversion.rules import BAD_ARRAY
from ufkit.core.diag import FormatError, Where
from ufkit.core.files import PathLike, Source, Span, replacing
from ufkit.ufw.io import open_blob, open_net, save_blob, save_net
from ufkit.ufw.mean import mean_array, mean_blob


def convert_net(source: Source, target: PathLike, form: str) -> None:
    """Write a net of any form in another, weights included. Raises as `open_net`, `save_net`."""
    with open_net(source) as net:
        save_net(net, target, form=form)


def convert_mean(source: Source, target: PathLike, layout: str, *, rgb: bool) -> int:
    """Write a mean image as .npy; gives the number of its channels. Raises as `mean_array`."""
    blob = open_blob(source)
    array = mean_array(blob, layout, rgb=rgb)
    with replacing(target) as out:
        np.lib.format.write_array(out, array, allow_pickle=False)
    return blob.shape[-3]


def convert_array(source: Source, target: PathLike, *, rgb: bool) -> int:
    """Write the array of a .npy as a mean image; gives the number of its channels.

    Raises as `mean_blob`, and FormatError (CNV005) for what is no plain array.
    """
    blob = mean_blob(_array(source), rgb=rgb)
    save_blob(blob, target)
    return blob.shape[-3]


def _array(source: Source) -> Any:
    data = io.BytesIO(Span(source, 0, source.size).view())
    try:
        return np.lib.format.read_array(data, allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, TokenError, TypeError, KeyError) as error:
        message = f"this .npy cannot be read: {error}"
        raise FormatError(BAD_ARRAY.at(Where(source.name), message)) from error
