"""Players of XO: the program of 1970 as its paper prints it, and a modern one."""
