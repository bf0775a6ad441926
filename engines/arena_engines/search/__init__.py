"""Readable searches, for teaching, for drawing, and as oracles of the compiled kernels."""
