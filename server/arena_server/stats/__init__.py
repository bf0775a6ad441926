"""Numbers from results: tables, tie-breaks, ratings."""
