"""Layers of detectors.

Sizes as SSD's Caffe computes them (prior_box_layer.cpp, detection_output_layer.cpp,
detection_evaluate_layer.cpp), and Faster R-CNN's proposal layer.
"""

from __future__ import annotations

from ufkit.ufw.layers.spec import LayerType, Shapes, Use, product, written

_SAME_RATIO = 1e-6
_OF_ROW, _OF_EVALUATION, _OF_REGION = 7, 5, 5


def _priors(use: Use) -> int:
    """Boxes at each place: one for each ratio of sides and smallest size, one for each largest."""
    ratios = [1.0]
    for ratio in use.param.reals("aspect_ratio"):
        if ratio <= 0:
            use.conflict(f"aspect_ratio is {ratio:g}; it has to be above 0")
        if all(abs(ratio - known) >= _SAME_RATIO for known in ratios):
            ratios += [ratio, 1 / ratio] if use.param.flag("flip", True) else [ratio]
    smallest, largest = (use.param.reals(f"{name}_size") for name in ("min", "max"))
    if not smallest:
        use.conflict("it has no min_size")
    if largest and len(largest) != len(smallest):
        use.conflict(f"it has {len(largest)} max_size; as many as min_size, {len(smallest)}, fit")
    return len(ratios) * len(smallest) + len(largest)


def _prior_box(use: Use) -> Shapes:
    """[1, 2, boxes * 4]: corners, and what they vary by."""
    shape = use.inputs[0]
    if not use.param.names:
        return [(1, 2, None)]  # its settings are not in the file
    space = shape[2:] if shape is not None else (None,)
    return [(1, 2, product((*space, _priors(use), 4)))]


def _detection_output(use: Use) -> Shapes:
    """[1, 1, found, 7]: image, label, confidence, corners."""
    boxes, confidences, priors = use.inputs[:3]
    classes = use.param.whole("num_classes")
    if priors is not None and len(priors) > 2 and priors[2] is not None:
        count = priors[2] // 4
        shared = use.param.flag("share_location", True)
        each = 4 if shared else 4 * (classes or 0)
        for shape, wanted, what in ((boxes, each, "places"), (confidences, classes, "confidences")):
            if shape is None or not wanted:
                continue
            have = product(shape[1:])
            if have is not None and have != count * wanted:
                use.conflict(
                    f"{count} boxes have {count * wanted} {what}; {written(shape)} holds {have}"
                )
    return [(1, 1, None, _OF_ROW)]


def _detection_evaluate(use: Use) -> Shapes:
    return [(1, 1, None, _OF_EVALUATION)]


def _proposal(use: Use) -> Shapes:
    return [(None, _OF_REGION), (None, 1)]


LAYERS = (
    LayerType("PriorBox", "Boxes of several sizes around each place of a map.",
              _prior_box, "prior_box_param", takes=2),
    LayerType("DetectionOutput", "Boxes as they are found: decoded, and the best of those that "
              "overlap.", _detection_output, "detection_output_param", takes=3),
    LayerType("DetectionEvaluate", "Which boxes are right.", _detection_evaluate,
              "detection_evaluate_param", takes=2),
    LayerType("Proposal", "Regions that may hold an object.", _proposal, "proposal_param",
              takes=3),
)  # fmt: skip
