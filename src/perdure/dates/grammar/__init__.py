"""The English grammar: one module per kind of expression, from numbers to ranges.

A reader takes a scan and a token index and returns a node with the index after it, or None. Modules import only simpler
ones; a reader that needs any day, atom, period or operand asks the scan for it.
"""
