"""The Chalice application, which imports the requested part of its API."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from chalice.app import Chalice

from chalicelib import settings, telemetry
from chalicelib.request.middleware import handle
from chalicelib.request.routes import ANY_PATHS, begins, close


class Application(Chalice):
    """The application, which imports a slice when it is called.

    `served` maps a path prefix to the modules whose `routes` serve it; the longest match counts.

    In Lambda a slice is imported at the first request to one of its paths, so a cold start does not
    load the models of other slices, nor a worker those of the API. Elsewhere (`chalice deploy`,
    tests) everything is imported at once.
    """

    def __init__(self, name: str, served: Mapping[str, Iterable[str]]) -> None:
        super().__init__(app_name=name, configure_logs=False)
        self._served = {begin: list(modules) for begin, modules in served.items()}
        self._imported: set[str] = set()
        self.register_middleware(handle, "http")
        begins.extend(served)
        close(self, ANY_PATHS)
        if not settings.in_lambda():
            for modules in self._served.values():
                self._import(modules)

    def __call__(self, event: Any, context: object) -> Any:
        telemetry.begin(context)
        self.serve(event.get("resource") or "")  # Chalice refuses other content types
        return super().__call__(event, context)

    def serve(self, path: str) -> None:
        """Import the routes of a declared path if needed."""
        self._import(self.modules_of(path))

    def modules_of(self, path: str) -> list[str]:
        begins = [begin for begin in self._served if f"{path}/".startswith(f"{begin}/")]
        return self._served[max(begins, key=len)] if begins else []

    def _import(self, modules: Iterable[str]) -> None:
        for module in modules:
            if module not in self._imported:
                before = set(self.routes)
                self.register_blueprint(import_module(module).routes)
                close(self, self.routes.keys() - before)
                self._imported.add(module)
