"""Datasets: their records by number, found, counted, and as small images."""
