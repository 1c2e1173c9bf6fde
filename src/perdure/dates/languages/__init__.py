"""One data file for each language; docs/dates.md tells how to add one."""
