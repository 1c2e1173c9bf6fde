"""The parts of local fact extraction, one concern a module."""
