"""How damage is told."""

UNREADABLE = "cannot be read"
ALTERED = "is not what was written: its checksum differs"
