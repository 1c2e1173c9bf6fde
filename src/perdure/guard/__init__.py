"""Secrets in text: recognise them by format and mask them before anything is stored."""

from perdure.guard.secrets import MaskedText, mask_secrets

__all__ = ["MaskedText", "mask_secrets"]
