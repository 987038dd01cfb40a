"""The console's modules, sent in four scripts: a browser on a slow line waits for each file that it
asks for.

In a script, a module is a function that returns its exports:

    $["dom.js"] = (() => { …; return { h, replace }; })();

`early.js`, which imports nothing, stays a file of its own.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from posixpath import join, normpath
from typing import Final

EARLY: Final = "early.js"
_FIRST: Final = "start.js"
# What each has besides what its modules import. The last has all others.
_SCRIPTS: Final = {
    _FIRST: ("app.js", "pages/home.js", "parts/first-steps.js"),
    "lists.js": ("pages/customers.js", "pages/orders.js", "pages/products.js", "search.js"),
    "records.js": (
        "pages/customer.js",
        "pages/new-order.js",
        "pages/order.js",
        "pages/product.js",
    ),
    "rest.js": (),
}
# $load(path) is what `import()` of a module becomes.
_BEGIN: Final = f"""\
import * as early from "./{EARLY}";
export const $ = {{ "{EARLY}": early }};
const places = PLACES;
export const $load = async (name) => {{
if (!$[name]) await import(`./${{places[name] ?? "rest.js"}}`);
return $[name];
}};
"""
_IMPORT: Final = re.compile(r'^import (?:(\{[^}]*\}|\* as \w+) from )?"([^"]+)";\n', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export ((?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_LATER: Final = re.compile(r'\bimport\((["`])([^"`]+)["`]\)')
_WAITS: Final = re.compile(r"^await ", re.MULTILINE)


def scripts(modules: Mapping[str, str]) -> dict[str, str]:
    """The scripts by their names, of the texts of all modules by their paths."""
    places = {name: script for script, names in _SCRIPTS.items() for name in names}
    sent = {EARLY: modules[EARLY], _FIRST: _BEGIN.replace("PLACES", json.dumps(places))}
    script_of = {EARLY: EARLY}
    for script, names in _SCRIPTS.items():
        found = _with_imports(names or sorted(modules), modules, script_of)
        script_of |= dict.fromkeys(found, script)
        if script != _FIRST:
            others = {script_of[one] for name in found for one in _imports(name, modules)}
            ahead = [
                f'import "./{other}";\n' for other in _SCRIPTS if other in others - {script, _FIRST}
            ]
            sent[script] = 'import { $, $load } from "./start.js";\n' + "".join(ahead)
        sent[script] += "".join(_function(name, modules[name]) for name in found)
    return sent


def _imports(name: str, modules: Mapping[str, str]) -> list[str]:
    return [_path(name, place) for _, place in _IMPORT.findall(modules[name])]


def _with_imports(
    names: Iterable[str], modules: Mapping[str, str], others: Collection[str]
) -> dict[str, None]:
    """The modules and what they import, besides others: each after its imports."""
    found: dict[str, None] = {}
    for name in names:
        if name not in others and name not in found:
            found |= _with_imports(_imports(name, modules), modules, {*others, *found})
            found[name] = None
    return found


def _path(name: str, place: str) -> str:
    return normpath(join(name, "..", place))


def _function(name: str, text: str) -> str:
    def imported(found: re.Match[str]) -> str:
        if found[1] is None:
            return ""
        names = found[1].removeprefix("* as ").replace(" as ", ": ")
        return f'const {names} = $["{_path(name, found[2])}"];\n'

    def later(found: re.Match[str]) -> str:
        return f"$load({found[1]}{_path(name, found[2])}{found[1]})"

    exports = ", ".join(exported for _, exported in _EXPORT.findall(text))
    text = _EXPORT.sub(r"\1", _LATER.sub(later, _IMPORT.sub(imported, text)))
    text = text.replace("import.meta.url", f'new URL("{name}", import.meta.url)')
    begin = "await (async () =>" if _WAITS.search(text) else "(() =>"
    return f'$["{name}"] = {begin} {{\n{text}return {{ {exports} }};\n}})();\n'
