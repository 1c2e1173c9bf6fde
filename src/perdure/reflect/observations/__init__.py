"""Observations: preference-neutral profiles of entities and topics, composed of facts without a language model."""
