"""The English grammar: small readers that take a token index and return a node with the index after it, or None."""
