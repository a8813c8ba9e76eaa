"""Notebook 00 explains how the course works: it asserts no claim, so no fault can be caught there.

Its one assertion is about two lines of its own; what it uses of ``pglab`` (the look at the set-up, an
explorer, three checks) has tests of its own. Should a claim come in, the test asks for faults here.
"""

FAULTS = []
