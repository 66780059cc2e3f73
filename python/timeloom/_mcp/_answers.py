"""The answers of the server's tools: the JSON of the program's commands, with fewer rows and keys.

Each takes the directories that may be read, and the checked arguments of its tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from timeloom._mcp._bounds import bounded, bounded_lines, picked
from timeloom._mcp._folders import Folders, is_unfinished, runs_in
from timeloom._mcp._program import json_of, output_of
from timeloom._mcp._refused import Refused

_Arguments = Mapping[str, Any]
_TIMES = ("working_s", "waiting_s", "unmeasured_s")
NOTES = ["losses", "notes"]
ALL_ROWS = "a larger rows gives more; {} has all"


def selection(arguments: _Arguments) -> list[str]:
    """Return the options that choose a part of a run."""
    options = []
    for name, option in (("from_s", "--from"), ("to_s", "--to")):
        if arguments[name] is not None:
            options.append(f"{option}={arguments[name]:.9f}s")
    for name, option in (("thread", "--thread"), ("process", "--group")):
        if arguments[name]:
            options.append(f"{option}={arguments[name]}")
    return options


def head(facts: _Arguments, keys: tuple[str, ...]) -> dict[str, Any]:
    """Return some facts, and the lists of losses and notes."""
    return picked(facts, keys) | {name: facts.get(name, []) for name in NOTES}


async def list_runs(folders: Folders, arguments: _Arguments) -> str:
    """The runs in a directory, the newest first."""
    directory = folders.path(arguments["directory"])
    if not directory.is_dir():
        raise Refused(f"{str(directory)!r} is not a directory; name one that contains runs [TL498]")
    found = runs_in(directory)
    rows = [await _described(run) for run in found[: arguments["rows"]]]
    rows += [{"run": str(run)} for run in found[len(rows) :]]
    answer = {"directory": str(directory), "runs": rows}
    return bounded(answer, ["runs"], arguments["rows"], "a larger rows gives more (most: 100)")


async def _described(run: Path) -> dict[str, Any]:
    if is_unfinished(run):
        return {"run": str(run), "unfinished": "the first question about it makes its trace and profile"}
    try:
        facts = await json_of(["info", str(run)], run.parent)
    except Refused as refused:
        return {"run": str(run), "problem": str(refused)}
    keys = ("program", "start", "wall_s", "processes", "threads", "tasks", "events", "losses")
    return {"run": str(run)} | picked(facts, keys)


async def where_time_goes(folders: Folders, arguments: _Arguments) -> str:
    """The answer of ``timeloom report``."""
    words = ["report", *selection(arguments), str(folders.path(arguments["run"]))]
    size = {"COLUMNS": "110", "LINES": str(arguments["rows"])}
    text, notes = await output_of(words, folders.roots[0], size)
    return bounded_lines([*notes, *text.splitlines()], "fewer rows, a thread, or from_s and to_s choose a part")


async def findings(folders: Folders, arguments: _Arguments) -> str:
    """The likely causes of lost time."""
    words = ["report", "--flat", "--min-percent=100", str(folders.path(arguments["run"]))]
    facts = await json_of(words, folders.roots[0])
    answer = {"findings": facts["findings"]} | head(facts, ("program", "wall_s", "processes", "threads"))
    if not facts["findings"]:
        answer["note"] = "no rule found a likely cause; where_time_goes shows the time"
    return bounded(answer, ["findings", *NOTES], 10, "timeloom report --json has all")


async def time_by(folders: Folders, arguments: _Arguments) -> str:
    """The time by thread, process, module, package or file."""
    options = [f"--by={arguments['by']}", *selection(arguments)]
    facts = await json_of(["report", *options, str(folders.path(arguments["run"]))], folders.roots[0])
    keys = ("name", *_TIMES, "total_s", "visits", "given_up", "functions", "project")
    answer = head(facts, ("by",)) | {"rows": [picked(row, keys) for row in facts["rows"]]}
    return bounded(answer, ["rows", *NOTES], arguments["rows"], ALL_ROWS.format("timeloom report --by --json"))


async def function(folders: Folders, arguments: _Arguments) -> str:
    """One function, its callers and callees."""
    options = [f"--function={arguments['name']}", *selection(arguments)]
    facts = await json_of(["report", *options, str(folders.path(arguments["run"]))], folders.roots[0])
    keys = ("names", "file", "line", "visits", "given_up", "own_s", *_TIMES, "waiting_causes_s", "total_s", "min_s")
    lists = ["callers", "callees", "native"]
    facts["waiting_causes_s"] = picked(facts["waiting_causes_s"], facts["waiting_causes_s"])
    answer = head(facts, (*keys, "max_s")) | {name: facts[name] for name in lists}
    more = ALL_ROWS.format("timeloom report --function NAME --json")
    return bounded(answer, [*lists, *NOTES], arguments["rows"], more)


async def slowest_calls(folders: Folders, arguments: _Arguments) -> str:
    """The slowest single calls."""
    options = [f"--function={arguments['function']}"] if arguments["function"] else []
    words = ["report", "--slowest", *options, str(folders.path(arguments["run"]))]
    size = {"LINES": str(arguments["rows"] + 2)}  # the command prints as many as a terminal has room for
    facts = await json_of(words, folders.roots[0], size)
    keys = ("name", "parameters", "thread", "begin_s", "total_s", "own_s", "impossible")
    answer = head(facts, ()) | {"visits": [picked(row, keys) for row in facts["visits"]]}
    return bounded(answer, ["visits", *NOTES], arguments["rows"], "a larger rows gives more (most: 100)")


async def compare(folders: Folders, arguments: _Arguments) -> str:
    """The functions that are slower, faster, new or gone in a later run."""
    runs = [str(folders.path(arguments[side])) for side in ("before", "after")]
    facts = await json_of(["diff", "--flat", "--min-percent=1", *runs], folders.roots[0])
    keys = ("name", "file", "line", "change", "before", "after", "exclusive_change_s", "inclusive_change_s")
    answer = picked(facts, ("before", "after", "parts", "change_s", "change_share"))
    answer["functions"] = [picked(row, keys) for row in facts["regions"]["rows"]]
    answer["changed_by_less_than_1_percent"] = facts["regions"]["hidden"]
    answer["notes"] = facts["notes"]
    more = ALL_ROWS.format("timeloom diff --json")
    return bounded(answer, ["functions", "notes"], arguments["rows"], more)


async def source(folders: Folders, arguments: _Arguments) -> str:
    """The source lines of a function."""
    options = [f"--function={arguments['place']}", "--with-source", *(f"--source={root}" for root in folders.roots)]
    facts = await json_of(["report", *options, str(folders.path(arguments["run"]))], folders.roots[0])
    found = facts["source"]
    if "reason" in found:
        raise Refused(f"{found['reason']} 'timeloom mcp DIR...' chooses the folders ({folders}) [TL498]")
    changed = "; the file was changed after the start of the run" if found["changed"] else ""
    title = f"{found['file']}: {', '.join(facts['names'])}, lines {found['from']} to {found['to']}{changed}"
    numbered = [f"{number} {_plain(line)}" for number, line in enumerate(found["lines"], found["first"])]
    skipped = max(0, arguments["first_line"] - found["first"])
    return bounded_lines([title, *numbered[skipped:]], "first_line chooses another first line")


def _plain(line: str) -> str:
    return "".join(one if one.isprintable() or one == "\t" else "?" for one in line)
