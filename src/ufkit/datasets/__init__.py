"""Datasets: images with labels and boxes, from one tool's form into another's.

Not here: downloading, augmentation, training, video, masks and keypoints (left out, and said).
"""
