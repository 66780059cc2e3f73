"""The errors of the Score-P kernel under their names, for programs that import them."""

from __future__ import annotations

from enum import Enum, auto


class KernelErrorCode(Enum):
    """The kinds of errors of the Score-P kernel. Timeloom's kernel reports errors as IPython does."""

    PERSISTENCE_SETUP_FAIL = auto()
    PERSISTENCE_DUMP_FAIL = auto()
    PERSISTENCE_LOAD_FAIL = auto()
    INSTRUMENTATION_PATH_UNKNOWN = auto()
    SCOREP_SUBPROCESS_FAIL = auto()
    SCOREP_NOT_AVAILABLE = auto()
    SCOREP_PYTHON_NOT_AVAILABLE = auto()
    VAMPIR_NOT_FOUND = auto()
    VAMPIR_LAUNCH_FAILED = auto()


KERNEL_ERROR_MESSAGES = {
    KernelErrorCode.PERSISTENCE_SETUP_FAIL: "the files of the marshaller cannot be made",
    KernelErrorCode.PERSISTENCE_DUMP_FAIL: "{marshaller} cannot write the state ({direction}, mode {mode})",
    KernelErrorCode.PERSISTENCE_LOAD_FAIL: "{marshaller} cannot read the state ({direction}, mode {mode})",
    KernelErrorCode.INSTRUMENTATION_PATH_UNKNOWN: "there is no experiment directory",
    KernelErrorCode.SCOREP_SUBPROCESS_FAIL: "the measured process has failed ({marshaller}, mode {mode})",
    KernelErrorCode.SCOREP_NOT_AVAILABLE: "Score-P is not available",
    KernelErrorCode.SCOREP_PYTHON_NOT_AVAILABLE: "the Score-P Python bindings are not available",
    KernelErrorCode.VAMPIR_NOT_FOUND: "vampir is not on PATH",
    KernelErrorCode.VAMPIR_LAUNCH_FAILED: "vampir cannot be started",
}
