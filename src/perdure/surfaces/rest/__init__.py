"""REST over HTTP, in the vocabulary of Hindsight's API; needs the extra `server`."""
