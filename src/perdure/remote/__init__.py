"""A served memory as if it were here: the verbs of `Perdure` over HTTP."""
