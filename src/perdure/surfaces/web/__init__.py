"""The web page: what memory holds, why it was recalled, and how to put it right; our own modules, no build, nothing from outside."""
