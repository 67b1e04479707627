"""Reads, checks and converts UFF graphs and UFW blobs."""
