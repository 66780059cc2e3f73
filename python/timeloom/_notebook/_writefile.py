"""Write mode: cells become a Python script, and a shell script that runs it measured."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from IPython.core.error import UsageError
from IPython.core.inputtransformer2 import TransformerManager

from timeloom._notebook import _cells
from timeloom._notebook._messages import say

_DEFAULT = "jupyter_to_script"
_SCRIPT_HEAD = '''\
"""Made from cells of a notebook. {runner} runs it measured.

Cells without a measuring magic run with the instrumentation off.
"""
import os

import scorep
'''
_UNMEASURED = ("unmeasured = scorep.instrumenter.disable()\nunmeasured.__enter__()\n",
               "unmeasured.__exit__(None, None, None)\n")  # not `with`: strings may have several lines


class WriteMode:
    """The files of write mode, while cells are added to them."""

    def __init__(self) -> None:
        self.on = False
        self._base = _DEFAULT
        self._script = self._runner = Path()
        self._exports: list[str] = []
        self._arguments: list[str] = []
        self._ranks = 0
        self._cells = 0

    def start(self, name: str, ranks: int = 0) -> None:
        """Begin two files of that name. Raises UsageError; then the mode stays off."""
        base = name.removesuffix(".py") or self._base
        script, runner = Path(f"{base}.py").absolute(), Path(f"{base}_run.sh").absolute()
        try:
            script.write_text(_SCRIPT_HEAD.format(runner=runner.name), encoding="utf-8")
            runner.write_text("", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"the files cannot be written: {error} [TL636]") from None
        self.on, self._base, self._script, self._runner = True, base, script, runner
        self._exports, self._arguments, self._ranks, self._cells = [], [], ranks, 0
        say(f"Started converting to Python script. See files:\n{runner}\n{script}\n")

    def set_environment(self, variables: dict[str, str]) -> None:
        """Record variables of Score-P."""
        self._exports += [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
        say("Environment variables recorded.")

    def set_arguments(self, arguments: list[str]) -> None:
        """Record arguments of the bindings."""
        self._arguments = arguments
        say("Score-P bindings arguments recorded.")

    def add(self, raw: str, instrumented: bool) -> None:
        """Record a cell. Raises UsageError."""
        cell = _cells.parse(raw)
        instrumented = instrumented or cell is not None
        code, exports = script_of(_cells.code_of(raw))
        self._exports += exports
        if not code.strip():
            return
        self._cells += 1
        head = f"\n# Cell {self._cells}{'' if instrumented else ', not measured'}\n"
        code = self._future_first(code)
        before, after = ("", "") if instrumented else _UNMEASURED
        try:
            with self._script.open("a", encoding="utf-8") as file:
                file.write(head + before + code + after)
        except OSError as error:
            raise UsageError(f"the cell is not recorded: {error} [TL636]") from None
        say(f"Python commands {'with' if instrumented else 'without'} instrumentation recorded.")

    def _future_first(self, code: str) -> str:
        """Move imports of __future__ to the start of the script; return the rest of the cell."""
        lines = code.splitlines(keepends=True)
        future = [line for line in lines if line.startswith("from __future__ import ")]
        if not future:
            return code
        script = self._script.read_text(encoding="utf-8")
        head = '"""\n'  # the end of the docstring
        at = script.index(head, 3) + len(head)
        self._script.write_text(script[:at] + "".join(future) + script[at:], encoding="utf-8")
        return "".join(line for line in lines if line not in future)

    def end(self) -> None:
        """Write the shell script. Raises UsageError."""
        self.on = False
        command = [sys.executable, "-m", "scorep", *self._arguments]
        if self._ranks:
            command = ["mpirun", "-n", str(self._ranks), *command]
        words = " ".join(map(shlex.quote, command))
        lines = ["#!/bin/bash", f"# Runs {self._script.name}, which was made from cells of a notebook, measured.",
                 "set -euo pipefail", *self._exports, f'{words} {shlex.quote(str(self._script))} "$@"', ""]
        try:
            self._runner.write_text("\n".join(lines), encoding="utf-8", errors="surrogateescape")
            self._runner.chmod(self._runner.stat().st_mode | 0o111)
        except OSError as error:
            raise UsageError(f"{self._runner.name} cannot be written: {error} [TL636]") from None
        say("Finished converting to Python script.")

    def abort(self) -> None:
        """Delete both files."""
        self.on, self._base = False, _DEFAULT
        for path in (self._script, self._runner):
            path.unlink(missing_ok=True)
        say("Writefile mode aborted.")


def script_of(code: str) -> tuple[str, list[str]]:
    """Return the code of a cell for plain Python, and lines for the shell; code that only a notebook can run becomes a
    comment."""
    if code.lstrip().startswith("%%"):
        return _commented_magic(code.lstrip())
    lines, exports = [], []
    for line in code.splitlines():
        word, value = _env(line)
        if word.startswith("SCOREP_") and value is not None:
            exports.append(f"export {word}={shlex.quote(value)}")
        elif word and value is not None:
            lines.append(f"{line[: len(line) - len(line.lstrip())]}os.environ[{word!r}] = {value!r}")
        else:
            lines.append(line)
    return "".join(_plain("\n".join(lines) + "\n")), exports


def _commented_magic(code: str) -> tuple[str, list[str]]:
    first, _, body = code.partition("\n")
    if first.split()[0] in ("%%time", "%%timeit", "%%prun", "%%capture"):
        inner, exports = script_of(body)
        return f"# {first}\n{inner}", exports
    return "".join(f"# {line}\n" for line in code.splitlines()), []


def _env(line: str) -> tuple[str, str | None]:
    words = line.strip().split(maxsplit=1)
    if len(words) != 2 or words[0] != "%env":
        return "", None
    name, equals, value = words[1].partition("=")
    if not equals:
        name, _, value = words[1].partition(" ")
        equals = value
    return name.strip(), os.path.expandvars(value.strip()) if equals else None


def _plain(code: str) -> list[str]:
    """Return IPython's Python code for a cell, with calls of IPython as comments."""
    try:
        plain = TransformerManager().transform_cell(code)
        compile(plain, "<cell>", "exec")  # await at the top is for notebooks only
    except SyntaxError:
        return [f"# {line}\n" for line in code.splitlines()]
    return [_without_ipython(line) for line in plain.splitlines(keepends=True)]


def _without_ipython(line: str) -> str:
    body = line.lstrip()
    indent = line[: len(line) - len(body)]
    if not body.startswith("get_ipython()"):
        return line if "get_ipython()" not in body else f"{indent}pass  # {body}"
    for magic in ("time", "prun"):  # the statement is run, without the magic
        start = f"get_ipython().run_line_magic('{magic}', "
        if body.startswith(start):
            import ast

            statement = ast.literal_eval(body[len(start) :].rstrip().removesuffix(")"))
            return f"{indent}{statement}\n"
    return f"{indent}pass  # {body}"
