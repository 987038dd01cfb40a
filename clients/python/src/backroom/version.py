"""The version of this package, as it is installed."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("backroom")
except PackageNotFoundError:  # run from its source
    __version__ = "0"
