"""Programs with sub-interpreters under Timeloom, for the tests of these."""

import sys

from profile_files import Profile
from streams import run_python

NEW = sys.version_info >= (3, 13)
MODULE = "_interpreters" if NEW else "_xxsubinterpreters"

# Both kinds: with a separate GIL, if available, and with the common one.
COMMON = f"""
import {MODULE} as interpreters, os, sys, threading

def create(isolated):
    if {NEW}:
        return interpreters.create("isolated" if isolated else "legacy")
    return interpreters.create(isolated=isolated)

def run(interpreter, code):
    said = interpreters.run_string(interpreter, code)
    assert said is None, said

def in_other(code, isolated=True):
    interpreter = create(isolated)
    run(interpreter, code)
    interpreters.destroy(interpreter)

def leaf(): pass
"""

# From 3.14 on, CPython prints it at the end of a program that has left interpreters open.
LEFT_OPEN = "<sys>:0: RuntimeWarning: remaining subinterpreters; close them with Interpreter.close()\n"


def run_in(directory, *arguments):
    """Run Python; the result has no word of CPython about interpreters that are left open."""
    done = run_python(arguments, directory)
    done.stderr = done.stderr.replace(LEFT_OPEN, "")
    return done


def measured(text, directory, *options):
    program = directory / "program.py"
    program.write_text(COMMON + text)
    return run_in(directory, "-m", "timeloom", "-o", "run", *options, program)


def said(done):
    """The lines of Timeloom without the first one, which contains times, and the last one."""
    lines = done.stderr.splitlines()
    assert lines[-1] == "timeloom: next: timeloom report run", done.stderr
    return lines[1:-1]


def calls_by_interpreter(run, name):
    """Visits of a function of __main__: {its interpreter: visits}."""
    profile = Profile(run)
    result = {}
    for location in profile.locations:
        for node, (visits, *_) in location["cells"].items():
            path = tuple(profile.nodes[node]["path"]) if node is not None else ("",)
            if path[-1] == f"__main__.{name}":
                inside = [region for region in path if region.startswith("interpreter ")]
                assert len(inside) <= 1, path
                key = inside[0] if inside else "main"
                result[key] = result.get(key, 0) + visits
    return result
