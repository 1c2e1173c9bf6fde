"""Readers of what other programs keep: one module per source, each giving documents, turns and ready facts."""
