"""One-line faults in ``pglab``, each with the claim of a notebook whose cell must fail; a file for each notebook."""

from sabotage import nb00, nb01, nb02, nb03, nb04, nb05, nb06, nb07, nb08, nb09, nb10, nb11

BY_NOTEBOOK = (nb00, nb01, nb02, nb03, nb04, nb05, nb06, nb07, nb08, nb09, nb10, nb11)
