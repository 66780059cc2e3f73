"""What the bindings did to load Score-P. Nothing has to be built or loaded here, so
most of this does nothing; scripts may go on calling it."""

import os

from scorep.helper import get_python_version


def generate_subsystem_lib_name():
    return f"libscorep_init_subsystem-{get_python_version()}.so"


def generate_ld_preload(scorep_config):
    """The libraries to preload: none."""
    return ""


def generate_subsystem_code(config):
    """The source to compile: none."""
    return ""


def generate(scorep_config, keep_files=False):
    """(name of the library, its directory): there is none to find there."""
    return generate_subsystem_lib_name(), ""


def init_environment(scorep_config, keep_files=False, verbose=False):
    """The environment is ready as it is."""


def reset_preload():
    """Give LD_PRELOAD the value of SCOREP_LD_PRELOAD_BACKUP, if that is set."""
    backup = os.environ.get("SCOREP_LD_PRELOAD_BACKUP")
    if backup:
        os.environ["LD_PRELOAD"] = backup
    elif backup is not None:
        os.environ.pop("LD_PRELOAD", None)


def clean_up(keep_files=True):
    """There is nothing to remove."""
