"""Helpers of the bindings that scripts call."""

import os
import subprocess
import sys

from timeloom import _core


def print_err(*args):
    """Print to stderr."""
    sys.stderr.write(" ".join(map(str, args)) + "\n")


def call(arguments):
    """Run a command: (return code, text of stdout, text of stderr)."""
    done = subprocess.run(arguments, capture_output=True)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def get_python_version():
    """Such as "3.12"."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def get_scorep_version():
    """The version of Score-P whose conventions are followed."""
    return float(_core.SCOREP_VERSION)


def get_scorep_config(config_line=None):
    """Lines of ``scorep-info config-summary``, or the first that has ``config_line``; else None."""
    lines = _core.scorep_summary().split("\n")
    if config_line is None:
        return lines
    return next((line for line in lines if config_line in line), None)


def add_to_ld_library_path(path):
    """Put ``path`` first into LD_LIBRARY_PATH, unless it is there."""
    paths = [part for part in os.environ.get("LD_LIBRARY_PATH", "").split(":") if part]
    if path not in paths:
        os.environ["LD_LIBRARY_PATH"] = ":".join([path, *paths])


def generate_compile_deps(config):
    """(include, lib, lib_dir, macro, linker_flags): nothing has to be compiled, so all are empty."""
    return [], [], [], [], []
