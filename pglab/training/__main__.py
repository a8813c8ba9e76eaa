"""python -m pglab.training: see ``command``."""

import sys

from pglab.training.command import main

sys.exit(main())
