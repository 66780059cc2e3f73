"""The kernel against the message specification, plain and measured, and its installation."""

import json
import os
import subprocess
import sys
import tempfile

import pytest

pytest.importorskip("jupyter_kernel_test")

import jupyter_kernel_test
from notebooks import KERNEL, environment, make_spec


class Samples(jupyter_kernel_test.KernelTests):
    """All samples; the class below has them with the magic in front."""

    __test__ = False
    kernel_name = KERNEL
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('test', file=sys.stderr)"
    completion_samples = ({"text": "zi", "matches": {"zip"}}, {"text": "%%execute_wi", "matches": {"%%execute_with_scorep"}},)
    complete_code_samples = ("1", "print('hello')", "def f(x):\n  return x*2\n\n\n", "%%timeloom\n1",)
    incomplete_code_samples = ("print('''hello", "def f(x):\n  x*2",)
    invalid_code_samples = ("import = 7q",)
    code_page_something = "zip?"
    code_generate_error = "raise ValueError"
    code_execute_result = ({"code": "6*7", "result": "42"},)
    code_display_data = ({"code": "from IPython.display import HTML, display; display(HTML('<b>test</b>'))", "mime": "text/html"},)
    code_history_pattern = "*6?7*"
    supported_history_operations = ("tail", "search")
    code_inspect_sample = "zip"
    code_clear_output = "from IPython.display import clear_output; clear_output()"

    @classmethod
    def setUpClass(cls):
        cls._before = dict(os.environ)
        cls._directory = tempfile.TemporaryDirectory()
        make_spec(cls._directory.name)
        os.environ.update(environment(cls._directory.name))
        cls._cwd = os.getcwd()
        os.chdir(cls._directory.name)
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        os.environ.clear()
        os.environ.update(cls._before)
        os.chdir(cls._cwd)
        cls._directory.cleanup()


class TestPlain(Samples):
    __test__ = True


class TestMeasured(Samples):
    __test__ = True
    code_hello_world = "%%timeloom\nprint('hello, world')"
    code_stderr = "%%execute_with_scorep\nimport sys; print('test', file=sys.stderr)"
    code_execute_result = ({"code": "%%timeloom\n6*7", "result": "42"},)
    code_display_data = ({"code": "%%timeloom\nfrom IPython.display import HTML, display; display(HTML('<b>test</b>'))", "mime": "text/html"},)


def installed(tmp_path, *words, module="timeloom_kernel.install", status=0):
    done = subprocess.run([sys.executable, "-m", module, "--prefix", str(tmp_path), *words],
                          capture_output=True, text=True, env=environment(tmp_path), timeout=60)
    assert done.returncode == status, done.stderr
    specs = {path.parent.name: json.loads(path.read_text())
             for path in (tmp_path / "share/jupyter/kernels").glob("*/kernel.json")}
    return done, specs


def test_install(tmp_path):
    done, specs = installed(tmp_path, "--name", "mine", "--display-name", "My Kernel", "--env", "A", "b c")
    assert specs == {"mine": {
        "argv": [sys.executable, "-m", "timeloom_kernel", "-f", "{connection_file}"], "display_name": "My Kernel",
        "language": "python", "metadata": {"debugger": True}, "env": {"A": "b c"}}}
    assert str(tmp_path) in done.stdout


def test_install_in_the_place_of_the_score_p_kernel(tmp_path):
    _, specs = installed(tmp_path, "--drop-in")
    assert {name: spec["display_name"] for name, spec in specs.items()} == {
        "timeloom": f"Timeloom (Python {sys.version_info[0]}.{sys.version_info[1]})",
        "scorep_jupyter": "Score-P_Python", "scorep-python": "scorep-python", "jumper": "JUmPER"}


def test_install_by_the_name_of_the_score_p_kernel(tmp_path):
    done, specs = installed(tmp_path, module="scorep_jupyter.install")
    assert list(specs) == ["scorep_jupyter"] and "installed the scorep jupyter python kernel" in done.stdout


def test_install_with_wrappers(tmp_path):
    done, specs = installed(tmp_path, "--io", "--mpi", "--thread")
    assert done.stderr == ""
    assert specs["timeloom"]["argv"][1:] == ["-m", "timeloom_kernel", "--io=posix", "--mpi", "--thread=pthread", "-f", "{connection_file}"]


def test_install_without_jupyter(tmp_path):
    """A module of that name that cannot be imported precedes Jupyter's."""
    (tmp_path / "jupyter_client.py").write_text("raise ImportError\n")
    command = [sys.executable, "-m", "timeloom_kernel.install", "--prefix", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env={**environment(tmp_path), "PYTHONPATH": str(tmp_path)})
    line = "timeloom_kernel.install: Jupyter is not installed; pip install 'timeloom[jupyter]' [TL639]\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", line)


def test_a_name_that_jupyter_does_not_take(tmp_path):
    done, specs = installed(tmp_path, "--name", "no/name", status=1)
    assert done.stderr.startswith("timeloom_kernel.install: ") and specs == {}
