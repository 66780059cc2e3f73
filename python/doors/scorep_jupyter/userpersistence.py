"""The state that the Score-P kernel transfers between processes, for programs that import its functions.

Timeloom's kernel measures cells in its own process and does not use this module. A marshaller is a module with ``dump``
and ``load``, such as pickle or dill.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, MutableMapping

scorep_script_name = "scorep_script.py"

_DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class PersHelper:
    """The choices of ``%%marshalling_settings``."""

    def __init__(self, marshaller: str = "dill", mode: str = "memory") -> None:
        self.marshaller, self.mode = marshaller, mode


def extract_definitions(code: str) -> str:
    """The imports, functions and classes of the code, as code."""
    return "\n".join(ast.unparse(one) for one in ast.parse(code).body if isinstance(one, _DEFINITIONS))


def extract_variables_names(code: str) -> set[str]:
    """The names that the code itself assigns, outside of its functions and classes."""
    names: set[str] = set()
    open_nodes: list[ast.AST] = [ast.parse(code)]
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        if not isinstance(node, _SCOPES):
            open_nodes.extend(ast.iter_child_nodes(node))
    return names


def dump_runtime(environ: Mapping[str, str], path: Iterable[str], environ_file: str, path_file: str,
                 marshaller: Any) -> None:
    """Write the variables of the process and ``sys.path``."""
    _dump(dict(environ), environ_file, marshaller)
    _dump(list(path), path_file, marshaller)


def load_runtime(environ: MutableMapping[str, str], path: list[str], environ_file: str, path_file: str,
                 marshaller: Any) -> None:
    """Replace the state by the one that dump_runtime() has written."""
    environ.clear()
    environ.update(_load(environ_file, marshaller))
    path[:] = _load(path_file, marshaller)


def dump_variables(names: Iterable[str], values: Mapping[str, Any], file: str, marshaller: Any) -> None:
    """Write the named variables, as far as they exist."""
    _dump({name: values[name] for name in names if name in values}, file, marshaller)


def load_variables(values: MutableMapping[str, Any], file: str, marshaller: Any) -> None:
    """Read the variables that dump_variables() has written."""
    values.update(_load(file, marshaller))


def _dump(value: Any, file: str, marshaller: Any) -> None:
    with open(file, "wb") as opened:
        marshaller.dump(value, opened)


def _load(file: str, marshaller: Any) -> Any:
    with open(file, "rb") as opened:
        return marshaller.load(opened)
