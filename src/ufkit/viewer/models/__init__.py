"""Files of each format as models to look at."""
