"""The program of 1970 as machine code: the same move and the same count of nodes as the readable one."""
