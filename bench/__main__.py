"""`make bench`: every benchmark, or those named: `python -m bench requests growth`."""

import importlib
import pkgutil
import sys
from types import ModuleType

import bench


def _benchmarks() -> dict[str, ModuleType]:
    """The modules of this folder that have a `main`."""
    names = [found.name for found in pkgutil.iter_modules(bench.__path__)]
    modules = {
        name: importlib.import_module(f"bench.{name}") for name in names if name != "__main__"
    }
    return {name: module for name, module in modules.items() if hasattr(module, "main")}


def main() -> None:
    found = _benchmarks()
    asked = sys.argv[1:] or list(found)
    unknown = [name for name in asked if name not in found]
    if unknown:
        raise SystemExit(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(found)}")
    for name in asked:
        print(f"\n## {name}\n", flush=True)
        found[name].main()


if __name__ == "__main__":
    main()
