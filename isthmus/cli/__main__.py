"""``python -m isthmus.cli``."""

import sys

from isthmus.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
