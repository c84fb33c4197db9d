"""``python -m isthmus.cli``."""

from isthmus.cli.app import entry_point

if __name__ == "__main__":
    entry_point()
