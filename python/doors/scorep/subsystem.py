"""The steps in which the bindings load Score-P, for scripts that call them.

Nothing has to be built or loaded here, so most of the functions do nothing.
"""

from timeloom import _core

with _core.unrecorded():
    import os

    from scorep.helper import get_python_version


def generate_subsystem_lib_name() -> str:
    """Return the name of the library that the bindings would build; no such library is made."""
    return f"libscorep_init_subsystem-{get_python_version()}.so"


def generate_ld_preload(scorep_config: object) -> str:
    """Return the libraries to preload: none."""
    return ""


def generate_subsystem_code(config: object) -> str:
    """Return the source to compile: none."""
    return ""


def generate(scorep_config: object, keep_files: bool = False) -> tuple[str, str]:
    """Return the name of the library and its directory, which is empty: no library is made."""
    return generate_subsystem_lib_name(), ""


def init_environment(scorep_config: object, keep_files: bool = False, verbose: bool = False) -> None:
    """Do nothing: the environment needs no change."""


def reset_preload() -> None:
    """Restore LD_PRELOAD from SCOREP_LD_PRELOAD_BACKUP, where that is set; an empty one removes it."""
    backup = os.environ.get("SCOREP_LD_PRELOAD_BACKUP")
    if backup:
        os.environ["LD_PRELOAD"] = backup
    elif backup is not None:
        os.environ.pop("LD_PRELOAD", None)


def clean_up(keep_files: bool = True) -> None:
    """Do nothing: there are no files to remove."""
