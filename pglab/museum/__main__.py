"""python -m pglab.museum my_module:my_loss: see ``command``."""

import sys

from pglab.museum.command import main

sys.exit(main())
