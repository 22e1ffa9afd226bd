"""The version of this package. The wheel, and the program of a release, have the same."""

__version__ = "0.1.0"
