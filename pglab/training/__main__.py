"""python -m pglab.training: see ``command``."""

import sys

try:
    from pglab.training.command import main
except KeyboardInterrupt:  # torch takes a second or two to load
    print("\nStopped before anything began.", file=sys.stderr)
    sys.exit(130)

sys.exit(main())
