"""From TensorFlow's graphs."""
