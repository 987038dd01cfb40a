"""make mutants: mutation testing of the core.

For each seed, makes a sample of small changes, the same number in each module, and a sample of the
changes that leave out a condition of a write. Runs the tests that reach the changed statements,
those of `make check`, until one fails. Prints each change that no test noticed, and the scores.
`mutants_equivalent.txt` lists changes without a visible effect. Each is tried in a forked process,
which imports the module as changed; no file is written. Which tests reach a statement is told by
one run of the tests, with a probe before each of these statements: it needs half the time of a
measurement of all lines.

mutmut leaves out functions and classes with decorators, and conditions joined with `&`; cosmic-ray
runs all tests for each change.
"""

import argparse
import ast
import builtins
import contextlib
import importlib
import multiprocessing
import os
import random
import re
import signal
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from importlib.machinery import SourceFileLoader
from itertools import accumulate, chain, groupby, pairwise
from pathlib import Path
from types import CodeType
from typing import Any, Final, NamedTuple

import hypothesis
import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
CORE: Final = """storage/commit storage/table storage/dynamodb storage/idempotency
  storage/outbox storage/logs storage/lockstep storage/conditions storage/attributes values/money
  events/* outbox/* ledger/consumer audit/consumer facets/consumer values/timezone
  values/slugs deadline sqs validation listing/* orders/* products/* customers/* webhooks/*
  imports/apply imports/upsert imports/store imports/steps/* jobs/* bulk_edits/*
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
MOST_SECONDS: Final = 30  # of CPU, of tests for one change
MOST_OF_A_TEST: Final = 8  # seconds of CPU in the run with probes; a longer one is not used
MOST_OF_CASES: Final = 3  # seconds of CPU there, after which other cases of a test are left out
FILES: Final = 4  # of a folder, that one process runs with probes
COMPARING: Final = re.compile(r"/test_(limits|contract)\.py")
FORK: Final = multiprocessing.get_context("fork")
GIVEN: Final[dict[str, Any]] = {}  # what forked processes inherit

Lines = tuple[int, int]  # of a statement, first and last; (0, 0) outside functions
Statement = tuple[str, Lines]  # of a module


class Mutant(NamedTuple):
    path: str
    lines: Lines
    name: str
    is_condition: bool


class Place(NamedTuple):
    """Where a node is."""

    statement: ast.AST
    lines: Lines
    name: str = ""  # of the classes and functions around it


# --- The changes ----------------------------------------------------------------------------------


def mutants(path: str) -> Iterator[tuple[Mutant, ast.Module]]:
    """Each change, and the module, which is changed until the next one is asked for."""
    tree = ast.parse((ROOT / path).read_text())
    # In other modules `&` joins bits and sets.
    of_items = "from chalicelib.storage.conditions import" in ast.unparse(tree)
    seen = Counter[str]()
    for node, place in _nodes(tree, Place(tree, (0, 0))):
        before = f"{place.name}: {_text(place.statement)[:90]} | {_text(node)[:90]}"
        for field, new in _changes(node, of_items):
            usual = getattr(node, field)
            setattr(node, field, new)
            name = f"{path} {before} → {_text(node)[:90]}"
            seen[name] += 1
            nth = f" (no. {seen[name]})" if seen[name] > 1 else ""
            is_condition = isinstance(node, ast.keyword) or field in ("left", "right")
            yield Mutant(path, place.lines, name + nth, is_condition), tree
            setattr(node, field, usual)


def _nodes(node: ast.AST, place: Place) -> Iterator[tuple[ast.AST, Place]]:
    """Those where a change has an effect."""
    yield node, place
    match node:
        case ast.Assert() | ast.keyword("strict") | ast.Call(ast.Name("isinstance")):
            return  # `strict` of zip is an assertion, too
        case ast.FunctionDef() | ast.ClassDef():
            place = place._replace(name=f"{place.name}.{node.name}".lstrip("."))
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if field in ("annotation", "returns", "decorator_list"):
                continue
            if isinstance(child, ast.stmt):
                is_inside = isinstance(node, ast.FunctionDef) or place.lines[1]
                lines = _lines(child) if is_inside else (0, 0)
                yield from _nodes(child, Place(child, lines, place.name))
            elif isinstance(child, ast.AST):
                yield from _nodes(child, place)


def _lines(statement: ast.stmt) -> Lines:
    """Those before its body, if it has one."""
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if body else statement.end_lineno
    return statement.lineno, max(statement.lineno, last or 0)


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def _changes(node: ast.AST, of_items: bool) -> Iterator[tuple[str, Any]]:
    """A field of the node, and its new value. Conditions of writes are left out: `when=`,
    `otherwise=`, and each operand of `&`."""
    match node:
        case ast.Compare(ops=[op, *more]) if type(op) in SWAPPED:
            yield "ops", [SWAPPED[type(op)](), *more]
        case ast.UnaryOp(ast.Not(), operand):
            yield "operand", ast.UnaryOp(ast.Not(), operand)
        case ast.BinOp(left, op, right) if type(op) in SWAPPED and not _is_nothing(right):
            yield "op", SWAPPED[type(op)]()
            if of_items and isinstance(op, ast.BitAnd) and ".keys()" not in _text(node):
                yield from (("right", left), ("left", right))
        case ast.BoolOp(op) | ast.AugAssign(op=op) if type(op) in SWAPPED:
            yield "op", SWAPPED[type(op)]()
        case ast.Constant(bool() as value):
            yield "value", not value
        case ast.Constant(int() as value):
            yield from (("value", value + 1), ("value", value - 1))
        case ast.If(test) | ast.IfExp(test) if _text(test) != "TYPE_CHECKING":
            yield from (("test", ast.Constant(True)), ("test", ast.Constant(False)))
        case ast.comprehension(ifs=[_, *more]):
            yield "ifs", more
        case ast.Expr(ast.Call(func)) if not _text(func).startswith(("log.", "telemetry.")):
            yield "value", ast.Constant(None)
        case ast.Return(value) | ast.keyword("when" | "otherwise", value) if not _is_nothing(value):
            yield "value", ast.Constant(None)


def _is_nothing(node: ast.AST | None) -> bool:
    """None, or False, which callers treat alike."""
    return node is None or (isinstance(node, ast.Constant) and str(node.value) in ("None", "False"))


# --- The tests ------------------------------------------------------------------------------------


class Watcher:
    """A pytest plugin: runs the wanted tests in their order, notes those that fail."""

    def __init__(self, order: list[str]):
        self.order, self.failed, self.has_run = order, set[str](), False

    def pytest_configure(self) -> None:
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile("mutants", hypothesis.settings(phases=phases))
        hypothesis.settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        by_id = {item.nodeid: item for item in items}
        items[:] = [by_id[test] for test in self.order if test in by_id]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.has_run = True
        self.failed |= {report.nodeid} if report.failed else set()


class Reach(NamedTuple):
    """What a test reaches, and how many seconds of CPU it takes."""

    took: float
    statements: frozenset[Statement]


class Prober(Watcher):
    """A pytest plugin: notes what each test reaches. Of a test with many cases, only the first are
    run: those of some seconds. A test of many seconds is ended, and fails."""

    def __init__(self) -> None:
        super().__init__([])
        self.reached, self.spent, self.began = dict[str, Reach](), Counter[str](), 0.0
        self.now = set[Statement]()
        signal.signal(signal.SIGPROF, self.end)

    def end(self, *_: object) -> None:
        raise TimeoutError

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        del items  # all of them

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if self.spent[item.nodeid.partition("[")[0]] > MOST_OF_CASES:
            pytest.skip("other cases of it were run")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        del nodeid
        self.began = time.process_time()
        self.now.clear()
        signal.setitimer(signal.ITIMER_PROF, MOST_OF_A_TEST)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        took = time.process_time() - self.began
        self.spent[nodeid.partition("[")[0]] += took
        self.reached[nodeid] = Reach(took, frozenset(self.now))


def run_tests(files: list[str], watcher: Watcher, *more: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = place
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # others need seconds to start
        options = ["-p", "_hypothesis_pytestplugin", "-p", "pytest_timeout", "--hypothesis-seed=16"]
        options += ["-p", "no:cacheprovider", "-p", "no:terminal"]
        options += ["-o", "addopts=--import-mode=importlib"]
        pytest.main([*options, f"--basetemp={place}/tmp", *more, *files], [watcher])


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


@contextlib.contextmanager
def imported_as(changed: Mapping[str, CodeType]) -> Iterator[None]:
    """Modules that are imported meanwhile have this code, by their names."""
    usual = SourceFileLoader.get_code
    SourceFileLoader.get_code = (  # type: ignore[method-assign]
        lambda self, fullname: changed.get(fullname) or usual(self, fullname)
    )
    try:
        yield
    finally:
        SourceFileLoader.get_code = usual  # type: ignore[method-assign]


def module_of(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def probed(path: str, lines: set[Lines]) -> CodeType:
    """The module with a call before each of these statements, which says that it is reached."""
    tree = ast.parse((ROOT / path).read_text())
    bodies = [
        body
        for node in ast.walk(tree)
        for _, body in ast.iter_fields(node)
        if isinstance(body, list) and body and isinstance(body[0], ast.stmt)
    ]
    for body in bodies:
        for at, statement in reversed([*enumerate(body)]):
            if _lines(statement) in lines:
                (call,) = ast.parse(f"__reached__({(path, _lines(statement))})").body
                body.insert(at, ast.copy_location(call, statement))
    return compile(ast.fix_missing_locations(tree), ROOT / path, "exec")


def reached(files: list[str]) -> dict[str, Reach]:
    """What each test of these files reaches, of those that pass."""
    prober = Prober()
    builtins.__dict__["__reached__"] = prober.now.add
    with imported_as(GIVEN["probed"]):
        run_tests(files, prober)
    return {test: reach for test, reach in prober.reached.items() if test not in prober.failed}


def find_reach(chosen: list[Mutant], files: list[str]) -> dict[str, Reach]:
    """What each test reaches of the statements with these changes."""
    lines = defaultdict[str, set[Lines]](set)
    for mutant in chosen:
        lines[mutant.path].add(mutant.lines)
    GIVEN["probed"] = {module_of(path): probed(path, of) for path, of in lines.items()}
    parts = []
    for _, some in groupby(files, key=lambda file: file.rpartition("/")[0]):
        folder = [*some]
        parts += [folder[at : at + FILES] for at in range(0, len(folder), FILES)]
    with FORK.Pool(2, maxtasksperchild=1) as pool:
        ends = pool.imap_unordered(reached, parts)
        return {test: reach for part in ends for test, reach in part.items()}


def tests_of(mutant: Mutant) -> list[str]:
    """Half a minute of the tests that reach it: first those of files that import the module, then
    those of its package, of these one case of each, the fastest first. Outside functions: those of
    files that import the module, after those that compare all limits with the docs."""
    package, _, module = module_of(mutant.path).rpartition(".")
    imported = re.compile(rf"from {package} import .*\b{module}\b|{package}\.{module}\b")
    at, is_anywhere = (mutant.path, mutant.lines), mutant.lines == (0, 0)
    cases, ranked, took = Counter[str](), [], dict[str, float]()
    for test, reach in sorted(GIVEN["reached"].items(), key=lambda one: (one[1].took, one[0])):
        file, name = test.partition("::")[0], test.partition("[")[0]
        is_first = is_anywhere and COMPARING.search(file) is not None
        is_direct = imported.search(GIVEN["texts"][file]) is not None
        is_near = f"/{package.rpartition('.')[2]}/" in file
        if at in reach.statements or (is_anywhere and (is_first or is_direct or is_near)):
            cases[name] += 1
            took[test] = reach.took
            ranked.append((not is_first, not is_direct, not is_near, cases[name], reach.took, test))
    chosen = [test for *_, test in sorted(ranked)]
    within = sum(spent <= MOST_SECONDS for spent in accumulate(took[test] for test in chosen))
    return chosen[: max(within, 1)]


def is_noticed(mutant: Mutant) -> bool:
    """Whether a test fails, or they do not end."""
    tests = tests_of(mutant)
    tree = next(tree for one, tree in mutants(mutant.path) if one == mutant)
    changed = compile(ast.fix_missing_locations(tree), ROOT / mutant.path, "exec")

    def noticed() -> bool:
        with imported_as({module_of(mutant.path): changed}):
            for first, last in pairwise((0, 12, 60, 300, 3_000)):  # the files of few: read sooner
                if some := tests[first:last]:
                    files = sorted({test.partition("::")[0] for test in some})
                    watcher = Watcher(some)
                    run_tests(files, watcher, "-x")
                    if watcher.failed or not watcher.has_run:  # not even collected
                        return True
        return False

    return forked(noticed, 120 + 20 * MOST_SECONDS) is not False


# --- All of it ------------------------------------------------------------------------------------


def sample(found: list[Mutant], size: int, seed: int) -> list[Mutant]:
    """The same number from each module."""
    seen = Counter[str]()

    def nth(mutant: Mutant) -> int:
        seen[mutant.path] += 1
        return seen[mutant.path]

    return sorted(random.Random(seed).sample(found, len(found)), key=nth)[:size]


def tried(what: str, chosen: list[Mutant], least: float) -> bool:
    """Prints the changes that no test noticed; whether enough were noticed."""
    todo = [mutant for mutant in chosen if mutant.name not in GIVEN["equivalent"]]
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
    os.nice(5)
    for name in PRELOADED:
        importlib.import_module(name)
    files = sorted(path.as_posix() for path in Path(given.tests).glob("**/test_*.py"))
    inside = [file for file in files if file.split("/")[1] not in ELSEWHERE]
    modules = sorted(Path("chalicelib").glob(f"{given.only or '**/*'}.py"))
    found = [mutant for path in modules for mutant, _ in mutants(path.as_posix())]
    core = {path.as_posix() for one in CORE for path in Path("chalicelib").glob(f"{one}.py")}
    usual = [mutant for mutant in found if not mutant.is_condition and mutant.path in core]
    conditions = [mutant for mutant in found if mutant.is_condition]
    samples = {seed: sample(usual, given.sample, seed) for seed in given.seed}
    removed = {one: None for seed in given.seed for one in sample(conditions, given.sample, seed)}
    chosen = [*removed, *chain(*samples.values())]
    equivalent = (ROOT / "tests/support/mutants_equivalent.txt").read_text().splitlines()
    GIVEN["equivalent"] = {line.partition(" || ")[0] for line in equivalent}
    GIVEN["texts"] = {file: Path(file).read_text() for file in inside}
    GIVEN["reached"] = find_reach(chosen, inside)
    ends = [tried("Conditions", [*removed], 1)]
    ends += [tried(f"Seed {seed}", some, 0.97) for seed, some in samples.items()]
    raise SystemExit(not all(ends))


if __name__ == "__main__":
    main()
