"""Readable searches, one algorithm a file: teachers, and oracles of the compiled kernels."""
