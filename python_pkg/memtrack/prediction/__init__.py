"""A training step without data and without a GPU, recorded as if it ran on CUDA."""
