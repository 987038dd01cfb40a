"""make mutants: mutation testing of the core.

Takes a seeded sample of small changes to the core, the same number from each module, and runs the
tests that reach the changed lines, the fastest first, until one fails. Prints the score of each
module and each change that no test noticed. `tests/mutants_equivalent.txt` lists equivalent
changes, which have no visible effect.

Each change is made in a forked process; no file is written. A change in a function is first made in
the imported module. If no test notices or reaches it, or if it is outside functions, it is made
while the module is imported. Checks that never fail, `assert` and `zip(strict=True)`, stay. The
lines that each test reaches are measured once (coverage.py) and kept below `.mutants/`.
"""

import argparse
import ast
import contextlib
import gc
import hashlib
import importlib
import inspect
import json
import multiprocessing
import os
import re
import shutil
import signal
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.machinery import SourceFileLoader
from itertools import accumulate, islice, pairwise, zip_longest
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Final

import coverage
import hypothesis
import pytest

ROOT: Final = Path(__file__).resolve().parents[1]
KEPT: Final = ROOT / ".mutants"
EQUIVALENT: Final = Path(__file__).with_name("mutants_equivalent.txt")
CORE: Final = """commit table round_trips idempotency outbox feed money timezone slugs deadline sqs
  validation conditions attributes listing/* orders/* products/* customers/* webhooks/fan_out
  webhooks/* webhooks/parked/* imports/apply imports/upsert
  imports/store imports/steps/* jobs/* bulk_edits/* undo/* api_keys/store request/rate
  request/parse request/size request/authenticate""".split()  # noqa: SIM905
PRELOADED: Final = "boto3 pydantic chalice moto.dynamodb moto.s3".split()  # noqa: SIM905
SWAPPED: Final[dict[type, type]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}  # fmt: skip
GIVEN: Final[dict[str, Any]] = {}  # what forked processes inherit
ELSEWHERE: Final = tuple(
    f"tests/{name}/" for name in ("client", "conformance", "deploy", "e2e", "infra")
)
BATCHES: Final = (0, 12, 60, 300, 3_000)  # how many tests are tried in one process
NOTICED: Final = ("killed", "timed out")


@dataclass(frozen=True)
class Mutant:
    path: str
    lines: tuple[int, int]
    """Of its statement, first and last; (0, 0) outside functions."""
    name: str
    number: int
    """Its place among all changes of the module."""


def edits(tree: ast.Module, conditions: bool) -> Iterator[tuple[ast.AST, str, ast.AST]]:
    """Each change: the node of `tree`, its text, and its replacement."""
    # In other modules `&` joins bits and sets.
    of_items = "from chalicelib.storage.conditions import" in ast.unparse(tree)
    for node in ast.walk(tree):
        for new in _conditions(node, of_items) if conditions else _changes(node):
            yield node, _difference(_text(node), _text(new)), ast.copy_location(new, node)


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
    """Removes `when=` and `otherwise=`, and each operand of `&`."""
    match node:
        case ast.Call(func, args, keywords):
            for one in keywords:
                if one.arg in ("when", "otherwise") and not _is_none(one.value):
                    none = ast.keyword(one.arg, ast.Constant(None))
                    yield ast.Call(func, args, [none if each is one else each for each in keywords])
        case ast.BinOp(left, ast.BitAnd(), right) if of_items:
            yield from (left, right)


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(left, [op, *more], compared) if type(op) in SWAPPED:
            yield ast.Compare(left, [SWAPPED[type(op)](), *more], compared)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(SWAPPED[type(op)](), values)
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.BinOp(left, op, right) if type(op) in SWAPPED and not _is_none(right):
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


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_zip(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "zip"


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


def mutants(path: str, conditions: bool) -> list[Mutant]:
    found, seen = [], Counter[str]()
    for number, (node, said, _) in enumerate(edits(parsed(path), conditions)):
        place = _place(node)
        if place is not None:
            name = f"{path} {place[1]}{said}"
            seen[name] += 1
            nth = f" (no. {seen[name]})" if seen[name] > 1 else ""
            found.append(Mutant(path, place[0], name + nth, number))
    return found


def _place(node: ast.AST) -> tuple[tuple[int, int], str] | None:
    """The lines of its statement; and its function, with the statement if the text is too short to
    be found alone. None where a change has no effect."""
    lines, inside, name, statement, short = (0, 0), False, "", "", len(_text(node)) < 30
    while not isinstance(node, ast.Module):
        parent = node.parent  # type: ignore[attr-defined]
        field = node.field  # type: ignore[attr-defined]
        if isinstance(parent, ast.Assert) or field in ("annotation", "returns", "decorator_list"):
            return None
        if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "isinstance":
            return None
        if field == "value" and getattr(parent, "arg", "") == "strict" and _is_zip(parent.parent):
            return None  # an assertion
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


def mutated(mutant: Mutant, conditions: bool) -> ast.Module:
    tree = parsed(mutant.path)
    node, _, new = next(islice(edits(tree, conditions), mutant.number, None))
    parent, field = node.parent, node.field  # type: ignore[attr-defined]
    held = getattr(parent, field)
    if isinstance(held, list):
        held[next(at for at, one in enumerate(held) if one is node)] = new
    else:
        setattr(parent, field, new)
    return ast.fix_missing_locations(tree)


# Running tests, each time in a process of its own.


class _Reports:
    """A pytest plugin that notes which tests failed, and why."""

    def __init__(self) -> None:
        self.failed: dict[str, str] = {}

    def pytest_configure(self) -> None:
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        same = {"deadline": None, "database": None, "phases": phases, "derandomize": True}
        hypothesis.settings.register_profile("mutants", **same)
        hypothesis.settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed[report.nodeid] = report.longreprtext[-200:]


class _Watcher(_Reports):
    """Runs the wanted tests in order, and notes their durations; with coverage, if given."""

    def __init__(self, order: dict[str, int] | None, seconds: dict[str, float], measured: Any):
        super().__init__()
        self.order, self.seconds, self.measured = order, seconds, measured
        self.took: dict[str, float] = {}  # seconds of CPU

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self.order is not None:
            wanted = [item for item in items if item.nodeid in self.order]
            items[:] = sorted(wanted, key=lambda item: self.order[item.nodeid])
            for item in items:
                _limit(item, self.seconds)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.took[nodeid] = -time.process_time()
        if self.measured:
            self.measured.switch_context(nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.took[nodeid] += time.process_time()


class _Judge(_Reports):
    """Collects all tests once; then forks for each change, and runs the tests that reach it."""

    def __init__(self, todo: Any, fates: Any) -> None:
        super().__init__()
        self.todo, self.fates = todo, fates

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        # A module that is imported later would not be changed.
        for path in (ROOT / "chalicelib").rglob("*.py"):
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        items = {item.nodeid: item for item in session.items}
        for mutant in iter(self.todo.get, None):
            reach: Reach = GIVEN["reach"]
            tests = [items[test] for test in reach.tests(mutant) if test in items]
            code = compile(mutated(mutant, GIVEN["conditions"]), ROOT / mutant.path, "exec")
            limit = 120 + 20 * sum(reach.seconds[test.nodeid] for test in tests)
            tried = partial(self._tried, mutant.path, code, tests)
            outcome = forked(tried, limit) if tests else {"unreached": True}
            self.fates.put((mutant, _fate(outcome)))
        return True

    def _tried(self, path: str, code: CodeType, tests: list[pytest.Item]) -> Any:
        swap(path, code)
        for test, following in zip_longest(tests, tests[1:]):
            _limit(test, GIVEN["reach"].seconds)
            test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
            if self.failed:
                break
        return {"failed": self.failed}


def _limit(test: pytest.Item, seconds: dict[str, float]) -> None:
    test.add_marker(pytest.mark.timeout(60 + 20 * seconds[test.nodeid]), append=False)


def _fate(outcome: Any) -> str:
    if outcome is None:
        return "timed out"
    for fate in ("unreached", "broken"):
        if fate in outcome:
            return fate
    if any("Timeout" in why for why in outcome["failed"].values()):
        return "timed out"
    return "killed" if outcome["failed"] else "survived"


def judge(files: list[str], todo: Any, fates: Any) -> None:
    """Takes changes from one queue, and puts their fates into the other."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    run_tests(["-s", *files], _Judge(todo, fates))


def judged_by(workers: int, files: list[str], some: list[Mutant]) -> Iterator[tuple[Mutant, str]]:
    fork = multiprocessing.get_context("fork")
    todo, fates = fork.Queue(), fork.Queue()
    for one in [*some, *[None] * workers]:
        todo.put(one)
    processes = [fork.Process(target=judge, args=(files, todo, fates)) for _ in range(workers)]
    for process in processes:
        process.start()
    for _ in some:
        yield fates.get(timeout=3_600)
    for process in processes:
        process.join()


def load(files: list[str]) -> None:
    """Imports the tests and everything they need, for the forked processes."""
    with open(os.devnull, "w") as nobody, contextlib.redirect_stdout(nobody):
        run_tests(["--collect-only", *files], _Watcher(None, {}, None))


def swap(path: str, code: CodeType) -> None:
    """Replaces the code of the functions in an imported module by that in `code`."""
    old = compile(parsed(path), ROOT / path, "exec")
    news = dict(zip(_functions(old), _functions(code), strict=True))
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename == str(ROOT / path):
            one.__code__ = news.get(one.__code__, one.__code__)


def _functions(code: CodeType) -> Iterator[CodeType]:
    """The functions of a module and of its classes."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from [one] if one.co_flags & inspect.CO_OPTIMIZED else _functions(one)


def forked(call: Any, seconds: float) -> Any:
    """The result of a call in a forked process; None if it does not end in time."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        answer: Any = {"broken": True}
        with contextlib.suppress(BaseException):
            answer = call()
        with os.fdopen(write, "w") as pipe:
            json.dump(answer, pipe)
        os._exit(0)
    os.close(write)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(child, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    signal.setitimer(signal.ITIMER_REAL, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def run_tests(files: list[str], plugin: _Reports) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = place
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # others need seconds to start
        options = ["-p", "_hypothesis_pytestplugin", "-p", "pytest_timeout", "--hypothesis-seed=16"]
        options += ["-p", "no:cacheprovider", "-q", f"--basetemp={place}/tmp"]
        code = pytest.main([*options, *files], [plugin])
    return {"code": int(code), "took": getattr(plugin, "took", {}), "failed": plugin.failed}


# Which tests reach which lines.


def reached(file: str) -> dict[str, Any]:
    """For a test file: `took`, `failed`, and `lines`: {test: {path: lines}}."""
    text = (ROOT / file).read_bytes()
    kept = KEPT / f"{hashlib.sha256(file.encode() + text).hexdigest()[:20]}.json"
    if not kept.exists():
        found = forked(lambda: _measured(file), 1_200)
        if found is None or "lines" not in found:
            raise SystemExit(f"{file} could not be measured")
        kept.write_text(json.dumps(found))
        print(
            f"measured {file}: {len(found['took'])} tests, failed: {list(found['failed'])}",
            flush=True,
        )
    return json.loads(kept.read_text())


def _measured(file: str) -> dict[str, Any]:
    core = [f"{ROOT}/chalicelib/*"]
    measured = coverage.Coverage(data_file=None, config_file=False, include=core)
    measured.start()
    found = run_tests([file], _Watcher(None, {}, measured))
    measured.stop()
    data = measured.get_data()
    lines: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for path in data.measured_files():
        for line, tests in data.contexts_by_lineno(path).items():
            for test in filter(None, tests):
                lines[test][os.path.relpath(path, ROOT)].append(line)
    return {**found, "lines": lines}


class Reach:
    """The tests that reach a line, and their durations."""

    def __init__(self, known: list[dict[str, Any]]) -> None:
        self.seconds = {test: s for one in known for test, s in one["took"].items()}
        broken = {test for one in known for test in one["failed"]}
        self.of: dict[tuple[str, int], set[str]] = defaultdict(set)
        for one in known:
            for test, paths in one["lines"].items():
                if test not in broken:
                    for path, lines in paths.items():
                        for line in lines:
                            self.of[path, line].add(test)
        self.anywhere: dict[str, set[str]] = defaultdict(set)
        for (path, _), tests in self.of.items():
            self.anywhere[path] |= tests

    def tests(self, mutant: Mutant, during_import: bool = False) -> list[str]:
        first, last = mutant.lines
        found = set().union(*(self.of[mutant.path, line] for line in range(first, last + 1)))
        if during_import and not (last and found):
            limits = {test for test in self.seconds if test.startswith("tests/test_limits.py")}
            found = self.anywhere[mutant.path] | limits
        found = {test for test in found if self.seconds[test] < GIVEN["seconds"]}
        parts = Path(mutant.path).with_suffix("").parts
        fastest = sorted(found, key=lambda one: (self.seconds[one], one))
        # One case of each test before the second of any; equal time for the tests of files that
        # name the module, for the slice's other tests, and for all others.
        cases, spent = Counter[str](), defaultdict[tuple[bool, bool], float](float)
        case, begins = {}, {}
        for test in fastest:
            case[test] = cases[name := test.partition("[")[0]]
            cases[name] += 1
        for test in sorted(fastest, key=case.__getitem__):
            names_it = parts[-1] in _words(test.partition("::")[0])
            kind = names_it, not names_it and test.startswith(f"tests/{parts[1]}/")
            begins[test] = spent[kind]
            spent[kind] += self.seconds[test]
        nearest = sorted(fastest, key=begins.__getitem__)
        until = accumulate(self.seconds[test] for test in nearest)
        return [test for test, end in zip(nearest, until, strict=True) if end < GIVEN["seconds"]]


@cache
def _words(file: str) -> set[str]:
    return set(re.findall(r"\w+", (ROOT / file).read_text()))


# All of it.


def imported(mutant: Mutant) -> tuple[Mutant, str]:
    """The fate of a change that is made while its module is imported."""
    reach: Reach = GIVEN["reach"]
    tests = reach.tests(mutant, during_import=True)
    if not tests:
        return mutant, "unreached"
    code = compile(mutated(mutant, GIVEN["conditions"]), ROOT / mutant.path, "exec")
    name = mutant.path.removesuffix(".py").replace("/", ".")
    for first, last in pairwise(BATCHES):
        if not (batch := tests[first:last]):
            break

        def tried(batch: list[str] = batch) -> Any:
            usual = SourceFileLoader.get_code
            SourceFileLoader.get_code = (  # type: ignore[method-assign]
                lambda self, asked: code if asked == name else usual(self, asked)
            )
            order = {test: place for place, test in enumerate(batch)}
            files = sorted({test.partition("::")[0] for test in batch})
            return run_tests(["-x", *files], _Watcher(order, reach.seconds, None))

        limit = 120 + 20 * sum(reach.seconds[test] for test in batch)
        outcome = forked(tried, limit)
        if outcome is not None and outcome.get("code", 5) == 5:  # no test ran
            return mutant, "broken"
        if (fate := _fate(outcome)) != "survived" or outcome["code"] != 0:
            return mutant, "killed" if fate == "survived" else fate
    return mutant, "survived"


def sample(modules: list[str], size: int, seed: int, conditions: bool) -> list[Mutant]:
    """The same number from each module, or all conditions. A larger sample extends a smaller one;
    a change to a function replaces only its own part of the sample."""
    lanes = [mutants(path, conditions) for path in modules]
    if conditions:
        return [one for lane in lanes for one in lane]

    def chance(text: str) -> bytes:
        return hashlib.sha256(f"{seed} {text}".encode()).digest()

    lanes = [sorted(lane, key=lambda one: chance(one.name)) for lane in lanes]
    lanes = [lane for _, lane in sorted(zip(map(chance, modules), lanes, strict=True))]
    mixed = (one for row in zip_longest(*lanes) for one in row if one is not None)
    return list(islice(mixed, size))


def left(modules: list[str], output: str, conditions: bool) -> list[Mutant]:
    """The survivors that an earlier run printed, if they still exist."""
    fates = (line.partition(": ") for line in output.splitlines())
    names = {name for fate, _, name in fates if fate in ("survived", "unreached", "broken")}
    found = [one for path in modules for one in mutants(path, conditions) if one.name in names]
    print(f"{len(found)} of {len(names)} are still there")
    return found


def reported(fates: dict[Mutant, str]) -> float:
    """Prints the survivors and the score of each module; returns the share noticed."""
    good = {mutant for mutant, fate in fates.items() if fate in NOTICED}
    print("Not noticed:")
    for mutant, fate in fates.items():
        if mutant not in good:
            print(f"{fate}: {mutant.name}")
    noticed, of = (Counter(mutant.path for mutant in some) for some in (good, fates))
    for path in sorted(of):
        print(f"{path:50} {noticed[path]:4} of {of[path]:4}")
    share = len(good) / max(1, len(fates))
    print(f"{len(good)} of {len(fates)} noticed: {share:.1%}")
    return share


def main() -> None:
    """Exits with 1 if fewer than 97 % are noticed, or any condition is not."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sample", type=int, default=400)
    options.add_argument("--seed", type=int, default=16)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--conditions", action="store_true", help="every when= and otherwise=")
    options.add_argument("--seconds", type=int, default=60, help="of tests for one change")
    options.add_argument("--module", help="of this module only, for example orders/store")
    options.add_argument("--again", help="what this output of a run says was not noticed")
    options.add_argument("--fresh", action="store_true", help="measure anew which tests reach what")
    given = options.parse_args()
    os.chdir(ROOT)
    os.nice(15)
    for name in PRELOADED:
        importlib.import_module(name)
    if given.fresh:
        shutil.rmtree(KEPT, ignore_errors=True)
    KEPT.mkdir(exist_ok=True)
    GIVEN["conditions"], GIVEN["seconds"] = given.conditions, given.seconds
    patterns = [given.module] if given.module else ["**/*"] if given.conditions else CORE
    found = {path for name in patterns for path in (ROOT / "chalicelib").glob(f"{name}.py")}
    modules = sorted(path.relative_to(ROOT).as_posix() for path in found)
    if given.again:
        chosen = left(modules, Path(given.again).read_text(), given.conditions)
    else:
        chosen = sample(modules, given.sample, given.seed, given.conditions)
    reasons = {line.partition(" || ")[0] for line in EQUIVALENT.read_text().splitlines()}
    files = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/**/test_*.py"))
    files = [file for file in files if not file.startswith(ELSEWHERE)]
    fork = multiprocessing.get_context("fork")
    with fork.Pool(given.workers, load, (files,)) as pool:
        known = pool.map(reached, files, chunksize=1)
    GIVEN["reach"] = Reach(known)
    todo = [mutant for mutant in chosen if mutant.name not in reasons]
    fates = dict.fromkeys(todo, "survived")
    in_functions = [one for one in todo if one.lines[1]]
    for mutant, fate in judged_by(given.workers, files, in_functions):
        fates[mutant] = fate
        print(f"{fate}: {mutant.name}", flush=True)
    with fork.Pool(given.workers) as pool:
        some = [one for one in todo if fates[one] not in NOTICED]
        for mutant, fate in pool.imap_unordered(imported, some, chunksize=1):
            fates[mutant] = fate
            print(f"{fate}: {mutant.name}", flush=True)
    share = reported(fates)
    print(f"{len(chosen) - len(todo)} equivalent")
    raise SystemExit(share < (1 if given.conditions else 0.97))


if __name__ == "__main__":
    main()
