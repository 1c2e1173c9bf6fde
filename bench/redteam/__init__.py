"""Planted attacks on prompts: remembered texts that try to steer the model which reads them."""
