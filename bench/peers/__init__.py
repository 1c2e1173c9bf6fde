"""Perdure beside other memories: same texts, same questions, one machine, one run."""
