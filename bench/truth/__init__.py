"""Does the memory notice that a value changed, and does it tell what is so now from what was?"""
