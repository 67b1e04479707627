"""Datasets on the command line: what the verbs do with many images rather than one model."""
