"""The modules of the Score-P kernel that programs import by name."""

import logging
import logging.config
import os
import pickle
import sys

import pytest

from scorep_jupyter import logging_config, userpersistence
from scorep_jupyter.kernel_messages import KERNEL_ERROR_MESSAGES, KernelErrorCode

pytestmark = pytest.mark.any_python

CODE = """
import os, json as other
from math import *
first = second = 1
if first:
    third: int = 2
for fourth, (fifth, *sixth) in []:
    with open(os.devnull) as seventh:
        pass
def f(x):
    inside = x
@property
async def g(): pass
class C:
    inside = 1
first += (eighth := 3)
"""


def test_definitions_and_variables_of_code():
    assert userpersistence.extract_definitions(CODE) == (
        "import os, json as other\nfrom math import *\ndef f(x):\n    inside = x\n"
        "@property\nasync def g():\n    pass\nclass C:\n    inside = 1")
    assert userpersistence.extract_variables_names(CODE) == {
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"}


def test_state_that_is_written_and_read(tmp_path):
    one, other = str(tmp_path / "environ"), str(tmp_path / "path")
    userpersistence.dump_runtime({"A": "1"}, ("x", "y"), one, other, pickle)
    environ, path = {"B": "2"}, ["z"]
    userpersistence.load_runtime(environ, path, one, other, pickle)
    assert (environ, path) == ({"A": "1"}, ["x", "y"])
    userpersistence.dump_variables(["a", "none"], {"a": [1], "b": 2}, one, pickle)
    values = {"c": 3}
    userpersistence.load_variables(values, one, pickle)
    assert values == {"a": [1], "c": 3}


def test_messages_and_logging(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert set(KERNEL_ERROR_MESSAGES) == set(KernelErrorCode)
    for text in KERNEL_ERROR_MESSAGES.values():
        assert "{" not in text.format(mode="m", marshaller="dill", direction="d")
    logging_config.LOGGING["loggers"]["kernel"]["level"] = "ERROR"
    logging.config.dictConfig(logging_config.LOGGING)
    assert logging.getLogger("kernel").level == logging.ERROR and os.listdir(tmp_path) == []


@pytest.mark.one_python
def test_errors_of_the_kernel(capsys):
    pytest.importorskip("ipykernel")
    from scorep_jupyter.kernel import scorep_jupyterKernel

    class Kernel(scorep_jupyterKernel):
        def __init__(self):  # without a shell, of which a process has one
            self.pershelper = userpersistence.PersHelper("pickle", "disk")

        log = logging.getLogger("kernel")

    Kernel.log.setLevel(logging.CRITICAL)
    Kernel().log_error(KernelErrorCode.PERSISTENCE_DUMP_FAIL, direction="there")
    Kernel().log_error(-1)
    # Importing ipykernel for the first time may warn before it.
    assert capsys.readouterr().err.endswith(
        "KernelError: pickle cannot write the state (there, mode disk)"
        "KernelError: Unknown error. Mode: disk, Marshaller: pickle")
    assert "scorep_jupyter.kernel" in sys.modules
