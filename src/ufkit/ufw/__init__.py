"""UFW: blobs, nets and records of Sophon's U-FrameWork, and of Caffe, which it comes from.

Not here: ONNX, files of images, datasets of other tools; calibration, which finds thresholds by
running a net. What takes arrays for it belongs here, in a module of its own.
"""
