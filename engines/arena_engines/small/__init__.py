"""Players of the small games: solvers that never lose a game they need not lose, and a heuristic one."""
