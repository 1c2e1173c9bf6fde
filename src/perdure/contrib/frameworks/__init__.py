"""Perdure inside agent frameworks: one module a framework, imported only by who uses it."""
