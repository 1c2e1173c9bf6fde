"""Servers that share one database: each bank has an owner among them, which answers its recalls."""
