"""Cells in a separate process: ``--fresh`` in a new Python, ``--ranks N`` under mpirun.

The code is written as a script, and run under ``timeloom run``. The notebook's variables that it reads are passed to
it, and the names of ``--return`` are passed back, by pickle.
"""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

import timeloom
from timeloom._notebook import _arguments
from timeloom._notebook._handle import CellRun
from timeloom._notebook._messages import say, say_error, show_text
from timeloom._notebook._writefile import script_of

if TYPE_CHECKING:
    from timeloom._notebook._notebook import Notebook

# Neither is part of the measurement.
_READ = """\
import timeloom as _timeloom
with _timeloom.stop():
    import pickle as _pickle
    with open({inputs!r}, "rb") as _file:
        globals().update(_pickle.load(_file))
    del _file, _pickle
del _timeloom
"""
_WRITE = """
import timeloom as _timeloom
with _timeloom.stop():
    import os as _os
    if _os.environ.get("OMPI_COMM_WORLD_RANK", _os.environ.get("PMI_RANK", "0")) == "0":
        import pickle as _pickle
        with open({outputs!r}, "wb") as _file:
            _pickle.dump({{_name: globals()[_name] for _name in {names!r}}}, _file)
"""


def run(notebook: Notebook, line: str, code: str) -> None:
    """Run a cell in a separate process. Raises UsageError."""
    try:
        options = _arguments.of_timeloom(line)
        ranks = _ranks(options.own.get("ranks"))
        output = str(options.settings.pop("output", "") or notebook.places.of_cell(notebook.number))
    except timeloom.Error as error:
        raise UsageError(f"timeloom: {error}") from None
    names = [name for name in options.own.get("return", "").split(",") if name]
    with tempfile.TemporaryDirectory(prefix="timeloom-cell-") as directory:
        place = Path(directory)
        script = _write(place, notebook, code, names)
        # By its path: with -m, Python would search the current directory first.
        door = os.path.join(os.path.dirname(timeloom.__file__), "__main__.py")
        command = [sys.executable, door, "--quiet", *_words(options.settings), "-o", output, str(script)]
        if ranks:
            command = [_mpirun(), "-n", str(ranks), *command]
        status = _run(command)
        if status != 0:
            raise UsageError(f"the process of the cell ended with status {status} [TL632]")
        if names:
            notebook.shell.user_ns.update(pickle.loads((place / "outputs").read_bytes()))
    run = CellRun(output, None)
    notebook.shell.user_ns["_run"] = notebook.shell.user_ns_hidden["_run"] = run
    show_text(f"{run.top(7)!r}\nrun: {output}  (in Python: _run)")


def _ranks(text: str | None) -> int:
    if text is None:
        return 0
    if not text.isdigit() or int(text) == 0:
        raise timeloom.Error(f"--ranks takes a number from 1 on, not {text!r} [TL630]")
    return int(text)


def _mpirun() -> str:
    program = shutil.which("mpirun")
    if program is None:
        raise UsageError("--ranks needs mpirun, which is not in PATH [TL633]")
    return program


def _words(settings: dict[str, Any]) -> list[str]:
    words = []
    for name, value in settings.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        else:
            words += [f"--{option}={one}" for one in (value if isinstance(value, list) else [value])]
    return words


def _write(place: Path, notebook: Notebook, code: str, names: list[str]) -> Path:
    plain, _ = script_of(code)
    try:
        reads = set(_names_of(compile(plain, "<cell>", "exec")))
    except SyntaxError as error:
        raise UsageError(f"the cell is not plain Python: {error} [TL634]") from None
    inputs, modules = {}, []
    for name in sorted(reads & set(notebook.shell.user_ns) - set(notebook.shell.user_ns_hidden)):
        value = notebook.shell.user_ns[name]
        if isinstance(value, types.ModuleType):
            modules.append(f"import {value.__name__} as {name}\n" if value.__name__ != name else f"import {name}\n")
        else:
            inputs[name] = value
    parts = [*modules]
    if inputs:
        try:
            (place / "inputs").write_bytes(pickle.dumps(inputs))
        except Exception as error:
            raise UsageError(
                f"the values that the cell reads cannot be handed to another process: {error} "
                "[TL635]"
            ) from None
        parts.append(_READ.format(inputs=str(place / "inputs")))
    parts.append(plain)
    if names:
        parts.append(_WRITE.format(outputs=str(place / "outputs"), names=names))
    script = place / "cell.py"
    script.write_text("".join(parts), encoding="utf-8")
    return script


def _names_of(code: types.CodeType) -> list[str]:
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += _names_of(constant)
    return names


def _run(command: list[str]) -> int:
    """Run it here, with its output as the cell's output."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, errors="replace", env={**os.environ, "PYTHONUNBUFFERED": "1"})
    assert process.stdout is not None
    try:
        for line in process.stdout:
            say(line)
        return process.wait()
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        say_error("the process of the cell was ended\n")
        raise
