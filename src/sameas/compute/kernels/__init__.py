"""Numba kernels, compiled when first used."""
