"""The engine `xo1970`: the program of P. Barnev, V. Tomov, D. Dobrev, K. Ivanov and G. Kulekov (1970)."""
