"""The ledger is complete because one module writes the stock, and each of its writes is traced."""

import ast
from pathlib import Path
from typing import Final

import chalicelib

ROOT: Final = Path(chalicelib.__file__).parent
STOCK: Final = ROOT / "products/stock.py"
WRITES: Final = {"update", "put", "put_each", "delete"}


def calls(of: ast.AST) -> set[str]:
    """The names of what is called in it."""
    found = [node.func for node in ast.walk(of) if isinstance(node, ast.Call)]
    names = {each.attr for each in found if isinstance(each, ast.Attribute)}
    return names | {each.id for each in found if isinstance(each, ast.Name)}


def test_each_function_that_writes_stock_traces_it() -> None:
    functions = {
        node.name: calls(node)
        for node in ast.parse(STOCK.read_text()).body
        if isinstance(node, ast.FunctionDef)
    }
    writing = {name for name, called in functions.items() if called & WRITES}
    # `write_edit` traces what `_update_stock` writes for it.
    assert writing == {"sell_pieces", "return_pieces", "write_edit", "_update_stock"}
    assert all("_trace_steps" in functions[name] for name in writing - {"_update_stock"})
    assert {name for name, called in functions.items() if "_update_stock" in called} == {
        "write_edit"
    }


def test_no_other_module_names_the_stock_item_in_a_write() -> None:
    """The item's key is made by `stock.key`; its attribute is only read elsewhere."""
    using = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if path != STOCK
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) == ("stock", "key")
    }
    assert using == {"products/store.py"}  # which reads it with the product
    naming = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if path != STOCK
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and str(node.value).split(".")[0] == "quantities"
    }
    assert naming == {"products/model.py"}  # which reads the item


def test_what_reads_the_stock_does_not_write_it() -> None:
    """`products/store.py` uses the stock's key to read it with the product, nowhere else."""
    tree = ast.parse((ROOT / "products/store.py").read_text())
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    reading = {f.name for f in functions if "stock.key(" in ast.unparse(f)}
    assert reading == {"keys", "from_items"}
    assert not any(calls(f) & {"put", "update"} for f in functions if f.name in reading)
