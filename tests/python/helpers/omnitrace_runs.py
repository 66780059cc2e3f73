"""Runs programs through the door of Omnitrace and reads the records."""

import json
import os
import subprocess
import sys
from pathlib import Path

# The commands, as words before their options.
COMMAND = (sys.executable, "-m", "omnitrace")


def variables_of(directory, **variables):
    """The environment of a program; setuptools does not take part in its imports."""
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("OMNITRACE_", "ROCPROFSYS_", "TIMELOOM_"))}  # fmt: skip
    kept["PATH"] = f"{Path(sys.executable).parent}:{kept['PATH']}"
    ours = {"PYTHONHASHSEED": "0", "HOME": str(directory), "SETUPTOOLS_USE_DISTUTILS": "stdlib",
            "OMNITRACE_VERBOSE": "-1", "OMNITRACE_TIME_OUTPUT": "OFF"}  # fmt: skip
    return {**kept, **ours, **variables}


def run_omnitrace(directory, *words, status=0, command=COMMAND, given="", **variables):
    """`python -m omnitrace words` in `directory`."""
    done = subprocess.run(
        [*command, *map(str, words)], cwd=directory, text=True, capture_output=True, timeout=120, input=given,
        env=variables_of(directory, **variables),
    )  # fmt: skip
    assert done.returncode == status, (done.stdout, done.stderr)
    return done


def profile(directory, text, *options, timeloom_program, name="app.py", **variables):
    """Runs the text as app.py: the visits of each call path, "main/f/g"."""
    Path(directory, name).write_text(text)
    done = run_omnitrace(directory, *options, "--", name, **variables)
    return done, call_paths(directory, timeloom_program)


def run_directory(directory):
    """The one run below the directory."""
    (run,) = Path(directory).rglob("timeloom-run*")
    return run


def call_paths(directory, timeloom_program):
    report = subprocess.run(
        [timeloom_program, "report", "--json", run_directory(directory)], capture_output=True, text=True, check=True
    )  # fmt: skip
    path, visits = [], {}
    for row in json.loads(report.stdout)["tree"]["rows"]:
        del path[row["depth"] :]
        path.append(row["name"])
        key = "/".join(path)
        visits[key] = visits.get(key, 0) + row["visits"]
    return visits
