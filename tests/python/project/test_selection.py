"""The tests that `make test` runs with each Python: none is left out by all."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_python

ROOT = Path(__file__).parents[3]
# The names under which packages are imported, where they differ from those they are installed under.
MODULES = {"pytest-xdist": "xdist"}


def libraries_of_one_version() -> set[str]:
    """The packages that the extra `test` installs with only one version of Python."""
    words = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["test"]
    names = [re.match(r"[\w-]+", word)[0] for word in words if "python_version ==" in word]
    return {MODULES.get(name, name).replace("-", "_") for name in names} | {"IPython"}  # which ipykernel brings


def marks(decorators: list[ast.expr]) -> set[str]:
    return {node.attr for one in decorators for node in ast.walk(one) if isinstance(node, ast.Attribute)}


def imported_or_skipped(function: ast.stmt) -> set[str]:
    return set(re.findall(r"importorskip\(\W?(\w+)", ast.unparse(function)))


def wrong_in(path: Path) -> list[str]:
    """The tests for the newest Python only that need a library which that Python does not have."""
    tree = ast.parse(path.read_text())
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    of_module = [node.value for node in assigned if ast.unparse(node.targets[0]) == "pytestmark"]
    wrong = []
    if {"any_python"} == marks(of_module) & {"any_python", "one_python"}:
        of_all = {name for node in tree.body if isinstance(node, ast.Expr) for name in imported_or_skipped(node)}
        wrong += [f"{path.name}: {name}" for name in of_all & libraries_of_one_version()]
    for test in (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")):
        own = marks([*of_module, *test.decorator_list])
        if "any_python" in own and not own & {"one_python", "engine_suite"}:
            wrong += [f"{path.name}: {test.name}: {name}" for name in imported_or_skipped(test) & libraries_of_one_version()]
    return wrong


def test_no_test_waits_for_a_library_that_its_python_does_not_get():
    assert {"pandas", "mpi4py"} <= libraries_of_one_version()
    assert [line for path in sorted((ROOT / "tests" / "python").rglob("test_*.py")) for line in wrong_in(path)] == []
