"""What CUDA's kernels allocate: their outputs as they make them, scratch, workspaces of libraries."""
