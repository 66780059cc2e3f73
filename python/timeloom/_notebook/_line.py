"""``%timeloom``: measures one line, and handles the words about earlier measurements."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

import timeloom
from timeloom._notebook._measured import MeasuredCell
from timeloom._notebook._messages import show_text
from timeloom._text import duration

if TYPE_CHECKING:
    from timeloom._notebook._notebook import Notebook
    from timeloom._notebook._runs import CellRecord

_FILE = "<timeloom line>"


def run(notebook: Notebook, line: str) -> Any:
    """Carry out the line. Raises UsageError."""
    words = line.split()
    if not words:
        raise UsageError(
            "%timeloom needs a statement, or one of: runs, diff, wait, view; "
            "%timeloom --help explains them [TL630]"
        )
    try:
        if words == ["runs"]:
            return _list_runs(notebook)
        if words[0] == "diff" and all(word.isdigit() for word in words[1:]) and len(words) <= 3:
            return _diff(notebook, [int(word) for word in words[1:]])
        if words == ["wait"]:
            return notebook.runs.wait()
        if words[0] == "view" and all(word.isdigit() for word in words[1:]) and len(words) <= 2:
            return _view(notebook, words[1:])
    except timeloom.Error as error:
        raise UsageError(f"timeloom: {error}") from None
    return _measure(notebook, line)


def _measure(notebook: Notebook, line: str) -> Any:
    """Run a line measured, and return the value of an expression."""
    shell = notebook.shell
    tree = ast.parse(shell.transform_cell(line))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    codes: list[Any] = [(compile(tree, _FILE, "exec"), exec)] if tree.body else []
    if isinstance(last, ast.Expr):
        codes.append((compile(ast.Expression(last.value), _FILE, "eval"), eval))
    if notebook.measuring:
        return _run(codes, shell)
    measured = MeasuredCell(notebook, "timeloom", "", line, has_await=False)
    try:
        measurement = measured.begin(_FILE)
        assert measurement is not None
        with measurement.user_code():
            return _run(codes, shell)
    except BaseException as error:
        measured.error = error
        raise
    finally:
        measured.end()
        notebook.runs.answer(measured)


def _run(codes: list[Any], shell: Any) -> Any:
    value = None
    for code, runs in codes:
        value = runs(code, shell.user_global_ns, shell.user_ns)
    return value


def _list_runs(notebook: Notebook) -> None:
    lines = [f"{record.head.cell:>9}  {duration(record.head.seconds):>8}  {record.head.events:>11,} events  "
             f"{_state(record):<9}  {record.head.run}" for record in notebook.runs.records]
    show_text("\n".join(lines) or "no cell of this notebook has been measured")


def _state(record: CellRecord) -> str:
    if not record.weaving.wait(0):
        return "recorded"
    return "not woven" if record.weaving.error else "woven"


def _diff(notebook: Notebook, numbers: list[int]) -> None:
    before, after = _two_runs(notebook, numbers)
    difference = before.run.diff(after.run)
    lines = [f"{before.head.cell} -> {after.head.cell}: {_changed(difference['change_s'])}"]
    for row in difference["regions"]["rows"]:
        if row["change"] != "same":
            old, new = (0 if row[when] is None else row[when]["visits"] for when in ("before", "after"))
            lines.append(f"{_changed(row['exclusive_change_s']):>11}  calls {old:,} -> {new:,}  {row['change']:<7}  "
                         f"{row['name']}")
    show_text("\n".join(lines[:15]) if len(lines) > 1 else f"{lines[0]}, no region is slower or faster")


def _view(notebook: Notebook, numbers: list[str]) -> None:
    if not notebook.runs.records:
        raise UsageError("no cell of this notebook has been measured [TL631]")
    record = _record(notebook, int(numbers[0])) if numbers else notebook.runs.records[-1]
    record.run.view()


def _changed(seconds: float) -> str:
    return f"{'+' if seconds >= 0 else '-'}{duration(abs(seconds))}"


def _two_runs(notebook: Notebook, numbers: list[int]) -> tuple[CellRecord, CellRecord]:
    records = notebook.runs.records
    if not numbers:
        if len(records) < 2:
            raise UsageError("%timeloom diff needs two measured cells [TL631]")
        return records[-2], records[-1]
    pair = [_record(notebook, number) for number in numbers]
    return (pair[0], records[-1]) if len(pair) == 1 else (pair[0], pair[1])


def _record(notebook: Notebook, number: int) -> CellRecord:
    for record in reversed(notebook.runs.records):
        if record.head.cell == f"In [{number}]":
            return record
    raise UsageError(f"In [{number}] was not measured; %timeloom runs lists the runs [TL631]")
