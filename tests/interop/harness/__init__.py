"""How checks are planned, run and told of."""
