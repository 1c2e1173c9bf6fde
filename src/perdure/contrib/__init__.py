"""What stands on the public API: frameworks, coding assistants, importers, and Hindsight's interfaces."""
