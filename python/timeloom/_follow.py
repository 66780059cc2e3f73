"""Goes on measuring in a Python that a measured program has started.

Imported by timeloom.pth at the start of Python, where TIMELOOM_PARENT names the
spool of the process that started this one.
"""

import os
import sys

from timeloom import _core

_HELPERS = ("resource_tracker import main", "backend.resource_tracker")
_SERVERS = ("multiprocessing.forkserver import main",)
_WORKERS = ("multiprocessing.spawn import spawn_main", "backend.popen_loky")
_OWN_DOORS = ("timeloom", "scorep")  # these begin a run of their own


def role_of(words):
    """What a Python with this command line was started for; None: nothing to be measured."""
    text = " ".join(words)
    module = words[words.index("-m") + 1] if "-m" in words[:-1] else ""
    if module.partition(".")[0] in _OWN_DOORS or any(mark in text for mark in _HELPERS):
        return None
    if any(mark in text for mark in _SERVERS):
        return "server"
    if "--multiprocessing-fork" in words or any(mark in text for mark in _WORKERS):
        return "worker"
    return "program"


def extend_python_path():
    """Lets children find bootstrap/sitecustomize.py, unless they read timeloom.pth."""
    packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    site = sys.modules.get("site")
    places = [*site.getsitepackages(), site.USER_SITE] if site else []
    if packages in places and os.path.exists(os.path.join(packages, "timeloom.pth")):
        return
    present = os.environ.get("PYTHONPATH", "")
    wanted = [os.path.join(packages, "timeloom", "bootstrap"), packages]
    entries = [entry for entry in present.split(os.pathsep) if entry]
    wanted = [entry for entry in wanted if entry not in entries]
    os.environ["PYTHONPATH"] = os.pathsep.join(wanted + entries)


def follow():
    """Begins to measure this process, if it is one to be measured."""
    parent = os.environ.get("TIMELOOM_PARENT")
    role = role_of(sys.orig_argv)
    if not parent or role is None:
        return
    try:
        _core.follow(parent, role)
    except Exception as error:  # the program must run all the same
        sys.stderr.write(f"timeloom: process {os.getpid()} is not recorded: {error}\n")

