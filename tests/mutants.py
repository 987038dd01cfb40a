"""make mutants: mutation testing of the core.

Makes a seeded sample of small changes, the same number in each module, and every change that leaves
out a condition of a write. Runs the tests that reach the changed lines, those of `make test`, until
one fails. Prints each change that no test noticed, and the scores. `tests/mutants_equivalent.txt`
lists changes without a visible effect. Each is tried in a forked process, which imports the module
as changed; no file is written. coverage.py measures which lines each test reaches.

mutmut leaves out functions and classes with decorators, and conditions joined with `&`; cosmic-ray
runs all tests for each change.
"""

import argparse
import ast
import contextlib
import importlib
import multiprocessing
import os
import random
import re
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.machinery import SourceFileLoader
from itertools import accumulate, islice, pairwise, zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple

import coverage
import hypothesis
import pytest

ROOT: Final = Path(__file__).resolve().parents[1]
CORE: Final = """storage/commit storage/table storage/dynamodb storage/idempotency
  storage/outbox storage/feed storage/conditions storage/attributes values/money values/timezone
  values/slugs deadline sqs validation listing/* orders/* products/* customers/* webhooks/*
  webhooks/parked/* imports/apply imports/upsert imports/store imports/steps/* jobs/* bulk_edits/*
  undo/* api_keys/store request/rate request/parse request/size
  request/authenticate""".split()  # noqa: SIM905
PRELOADED: Final = "boto3 pydantic chalice moto.dynamodb moto.s3".split()  # noqa: SIM905
SWAPPED: Final[dict[type, type]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}  # fmt: skip
ELSEWHERE: Final = "client conformance deploy e2e infra".split()  # noqa: SIM905
MOST_SECONDS: Final = 60  # of CPU, of tests for one change
COMPARING: Final = re.compile(r"/test_(limits|contract)\.py")
FORK: Final = multiprocessing.get_context("fork")
GIVEN: Final[dict[str, Any]] = {}  # what forked processes inherit


class Mutant(NamedTuple):
    path: str
    lines: tuple[int, int]  # of its statement, first and last; (0, 0) outside functions
    name: str
    number: int  # its place among all changes of the module
    is_condition: bool


# --- The changes ----------------------------------------------------------------------------------


def edits(tree: ast.Module) -> Iterator[tuple[ast.AST, str, ast.AST, bool]]:
    """Each change: the node of `tree`, its text, its replacement, and whether it is a condition."""
    # In other modules `&` joins bits and sets.
    of_items = "from chalicelib.storage.conditions import" in ast.unparse(tree)
    for node in ast.walk(tree):
        for is_condition, found in ((True, _conditions(node, of_items)), (False, _changes(node))):
            for new in found:
                said = _difference(_text(node), _text(new))
                yield node, said, ast.copy_location(new, node), is_condition


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.If | ast.While):
        return f"if {ast.unparse(node.test)}"
    return " ".join(ast.unparse(node).split())


def _difference(old: str, new: str) -> str:
    """The changed text, with some context."""
    same = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
    backwards = zip(reversed(old[same:]), reversed(new[same:]), strict=False)
    tail = next((at for at, (a, b) in enumerate(backwards) if a != b), 0)
    begin, end = max(0, same - 40), 10 - tail
    return " → ".join(text[begin : len(text) + min(0, end)][:120] for text in (old, new))


def _conditions(node: ast.AST, of_items: bool) -> Iterator[ast.AST]:
    """Removes `when=` and `otherwise=`, and each operand of `&` between conditions."""
    match node:
        case ast.Call(func, args, keywords):
            for one in keywords:
                if one.arg in ("when", "otherwise") and not _is_nothing(one.value):
                    none = ast.keyword(one.arg, ast.Constant(None))
                    yield ast.Call(func, args, [none if each is one else each for each in keywords])
        case ast.BinOp(left, ast.BitAnd(), right) if of_items and ".keys()" not in _text(node):
            yield from (left, right)


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(left, [op, *more], compared) if type(op) in SWAPPED:
            yield ast.Compare(left, [SWAPPED[type(op)](), *more], compared)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(SWAPPED[type(op)](), values)
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.BinOp(left, op, right) if type(op) in SWAPPED and not _is_nothing(right):
            yield ast.BinOp(left, SWAPPED[type(op)](), right)
        case ast.AugAssign(target, op, value) if type(op) in SWAPPED:
            yield ast.AugAssign(target, SWAPPED[type(op)](), value)
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() as value):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Expr(ast.Call(func)) if not _text(func).startswith(("log.", "telemetry.")):
            yield ast.Pass()
        case ast.If(test, body, orelse) if _text(test) != "TYPE_CHECKING":
            yield from (ast.If(ast.Constant(is_so), body, orelse) for is_so in (True, False))
        case ast.IfExp(_, body, orelse):
            yield from (body, orelse)
        case ast.comprehension(target, iterated, [_, *more], is_async):
            yield ast.comprehension(target, iterated, more, is_async)
        case ast.Return(value) if value is not None and not _is_nothing(value):
            yield ast.Return(ast.Constant(None))


def _is_nothing(node: ast.AST) -> bool:
    """None, or False, which callers treat alike."""
    return isinstance(node, ast.Constant) and (node.value is None or node.value is False)


def parsed(path: str) -> ast.Module:
    """The module; each node has its `parent`, and its `field` there."""
    tree = ast.parse((ROOT / path).read_text())
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    child.parent, child.field = node, field  # type: ignore[attr-defined]
    return tree


def mutants(path: str) -> list[Mutant]:
    found, seen = [], Counter[tuple[str, bool]]()
    for number, (node, said, _, is_condition) in enumerate(edits(parsed(path))):
        if place := _place(node):
            name = f"{path} {place[1]}{said}"
            seen[name, is_condition] += 1
            nth = f" (no. {times})" if (times := seen[name, is_condition]) > 1 else ""
            found.append(Mutant(path, place[0], name + nth, number, is_condition))
    return found


def _place(node: ast.AST) -> tuple[tuple[int, int], str] | None:
    """The lines of its statement; and its function, with the statement if the text is too short to
    be found alone. None where a change has no effect."""
    lines, inside, name, statement, short = (0, 0), False, "", "", len(_text(node)) < 30
    while not isinstance(node, ast.Module):
        parent, field = node.parent, node.field  # type: ignore[attr-defined]
        called = getattr(getattr(parent, "func", None), "id", "")
        strict = field == "value" and getattr(parent, "arg", "") == "strict"  # of zip: an assertion
        if isinstance(parent, ast.Assert) or called == "isinstance" or strict:
            return None
        if field in ("annotation", "returns", "decorator_list"):
            return None
        if isinstance(node, ast.stmt) and not lines[1]:
            last = node.body[0].lineno - 1 if hasattr(node, "body") else node.end_lineno
            lines = node.lineno, max(node.lineno, last or 0)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = f"{node.name}.{name}"
        elif isinstance(node, ast.stmt) and not statement and short:
            statement = f"{_text(node)[:90]} | "
        inside |= isinstance(parent, ast.FunctionDef) and field == "body"
        node = parent
    return (lines if inside else (0, 0)), f"{name.rstrip('.')}: {statement}"


def mutated(mutant: Mutant) -> ast.Module:
    tree = parsed(mutant.path)
    node, _, new, _ = next(islice(edits(tree), mutant.number, None))
    parent, field = node.parent, node.field  # type: ignore[attr-defined]
    held = getattr(parent, field)
    is_one_of = isinstance(held, list)
    setattr(parent, field, [new if one is node else one for one in held] if is_one_of else new)
    return ast.fix_missing_locations(tree)


# --- The tests ------------------------------------------------------------------------------------


class Watcher:
    """A pytest plugin: runs the wanted tests in their order, notes seconds of CPU and failures."""

    def __init__(self, order: list[str] | None = None, measured: coverage.Coverage | None = None):
        self.order, self.measured = order, measured
        self.failed, self.took, self.began = set[str](), dict[str, float](), 0.0

    def pytest_configure(self) -> None:
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile("mutants", hypothesis.settings(phases=phases))
        hypothesis.settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.order is not None:
            by_id = {item.nodeid: item for item in items}
            items[:] = [by_id[test] for test in self.order if test in by_id]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.began = time.process_time()
        if self.measured:
            self.measured.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= {report.nodeid} if report.failed else set()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.took[nodeid] = time.process_time() - self.began


def run_tests(files: list[str], watcher: Watcher, *more: str) -> Watcher:
    with tempfile.TemporaryDirectory() as place:
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = place
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # others need seconds to start
        options = ["-p", "_hypothesis_pytestplugin", "-p", "pytest_timeout", "--hypothesis-seed=16"]
        options += ["-p", "no:cacheprovider", "-p", "no:terminal", "-m", "not thorough"]
        options += ["-o", "addopts=--import-mode=importlib"]
        pytest.main([*options, f"--basetemp={place}/tmp", *more, *files], [watcher])
    return watcher


def forked(call: Callable[[], bool], seconds: float) -> bool | None:
    """The result of a call in a forked process; None if it does not end in time, or dies."""

    def end() -> None:
        os.setsid()
        os._exit(40 + call())

    child = FORK.Process(target=end)
    child.start()
    child.join(seconds)
    code = child.exitcode
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid or 0, signal.SIGKILL)
    child.join()
    return {40: False, 41: True}.get(code or 0)


def reached(file: str) -> tuple[dict[str, float], dict[str, dict[int, list[str]]]]:
    """Of a test file: seconds of CPU by test that passes, and {path: {line: tests}}."""
    measured = coverage.Coverage(None, config_file=False, include=[f"{ROOT}/chalicelib/*"])
    measured.start()
    watcher = run_tests([file], Watcher(measured=measured))
    measured.stop()
    data = measured.get_data()
    lines = {os.path.relpath(at, ROOT): data.contexts_by_lineno(at) for at in data.measured_files()}
    return {test: s for test, s in watcher.took.items() if test not in watcher.failed}, lines


def tests_of(mutant: Mutant) -> list[str]:
    """A minute of the tests that reach it: first those of files that import the module, then those
    of its package, of these one case of each, the fastest first. Outside functions: of those that
    reach the module, after those that compare all limits with the docs."""
    first, last = mutant.lines
    found, documented = dict[str, float](), set[str]()
    for took, lines in GIVEN["reached"]:
        reaching = lines.get(mutant.path, {}).items()
        tests = {test for at, some in reaching for test in some if first <= at <= (last or at)}
        documented |= set() if last else {test for test in took if COMPARING.search(test)}
        found |= {test: took[test] for test in tests | documented if test in took}
    package, _, module = mutant.path.removesuffix(".py").replace("/", ".").rpartition(".")
    imported = re.compile(rf"from {package} import .*\b{module}\b|{package}\.{module}\b")
    cases, ranked = Counter[str](), []
    for test in sorted(found, key=lambda one: (found[one], one)):
        name = test.partition("[")[0]
        cases[name] += 1
        is_near = f"/{package.rpartition('.')[2]}/" in test
        is_direct = imported.search((ROOT / test.partition("::")[0]).read_text()) is not None
        is_first = test in documented
        ranked.append((not is_first, not is_direct, not is_near, cases[name], found[test], test))
    chosen = [test for *_, test in sorted(ranked)]
    within = sum(spent <= MOST_SECONDS for spent in accumulate(found[test] for test in chosen))
    return chosen[:within]


def is_noticed(mutant: Mutant) -> bool:
    """Whether a test fails, or they do not end."""
    tests = tests_of(mutant)
    changed = compile(mutated(mutant), ROOT / mutant.path, "exec")
    name = mutant.path.removesuffix(".py").replace("/", ".")
    usual = SourceFileLoader.get_code

    def noticed() -> bool:
        SourceFileLoader.get_code = (  # type: ignore[method-assign]
            lambda self, fullname: changed if fullname == name else usual(self, fullname)
        )
        for first, last in pairwise((0, 12, 60, 300, 3_000)):  # the files of few are read sooner
            if some := tests[first:last]:
                files = sorted({test.partition("::")[0] for test in some})
                ran = run_tests(files, Watcher(some), "-x")
                if ran.failed or not ran.took:  # not even collected
                    return True
        return False

    return forked(noticed, 120 + 20 * MOST_SECONDS) is not False


# --- All of it ------------------------------------------------------------------------------------


def sample(found: list[Mutant], size: int, seed: int) -> list[Mutant]:
    """The same number from each module."""
    by_module: dict[str, list[Mutant]] = {}
    for mutant in random.Random(seed).sample(found, len(found)):
        by_module.setdefault(mutant.path, []).append(mutant)
    rows = zip_longest(*by_module.values())
    return [one for row in rows for one in row if one is not None][:size]


def tried(what: str, chosen: list[Mutant], least: float) -> bool:
    """Prints the changes that no test noticed; whether enough were noticed."""
    equivalent = (ROOT / "tests/mutants_equivalent.txt").read_text().splitlines()
    names = {line.partition(" || ")[0] for line in equivalent}
    todo = [mutant for mutant in chosen if mutant.name not in names]
    with ProcessPoolExecutor(2, FORK) as pool:
        ends = pool.map(is_noticed, todo)
        left = [one for one, noticed in zip(todo, ends, strict=True) if not noticed]
    share = 1 - len(left) / max(1, len(todo))
    print(f"{what}: {share:.1%} of {len(todo)} noticed; {len(chosen) - len(todo)} are equivalent.")
    for mutant in left:
        print(f"  not noticed: {mutant.name}", flush=True)
    return share >= least


def main() -> None:
    """Exits with 1 if fewer than 97 % of a sample are noticed, or any condition is not."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sample", type=int, default=400)
    options.add_argument("--seed", type=int, nargs="+", default=[16])
    options.add_argument("--only", help="this module, for example orders/store")
    options.add_argument("--tests", default="tests", help="with the tests of this folder")
    given = options.parse_args()
    os.chdir(ROOT)
    os.nice(15)
    for name in PRELOADED:
        importlib.import_module(name)
    files = sorted(path.as_posix() for path in Path(given.tests).glob("**/test_*.py"))
    inside = [file for file in files if file.split("/")[1] not in ELSEWHERE]
    with FORK.Pool(2, maxtasksperchild=1) as pool:
        GIVEN["reached"] = pool.map(reached, inside, chunksize=1)
    modules = sorted(Path("chalicelib").glob(f"{given.only or '**/*'}.py"))
    found = [mutant for path in modules for mutant in mutants(path.as_posix())]
    core = {path.as_posix() for one in CORE for path in Path("chalicelib").glob(f"{one}.py")}
    usual = [mutant for mutant in found if not mutant.is_condition and mutant.path in core]
    conditions = [mutant for mutant in found if mutant.is_condition]
    ends = [tried("Conditions", conditions, 1)]
    ends += [tried(f"Seed {seed}", sample(usual, given.sample, seed), 0.97) for seed in given.seed]
    raise SystemExit(not all(ends))


if __name__ == "__main__":
    main()
