"""UFW: blobs, nets and records of Sophon's U-FrameWork, and of Caffe, which it comes from.

Not here: ONNX, files of images, datasets of other tools.
"""
