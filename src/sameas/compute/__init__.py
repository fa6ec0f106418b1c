"""Arrays, threads and blocks, kernels, top-k, projections."""
