"""Sentences with their slot and aspect, and the fit of the heads that read them."""
