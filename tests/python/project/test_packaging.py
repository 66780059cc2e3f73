"""The installation by pip: one version everywhere, the program in both places, the types."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import timeloom

pytestmark = pytest.mark.any_python

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = Path(timeloom.__file__).parent


def version_of(program) -> str:
    return subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout


def test_one_version_everywhere(timeloom_program):
    text = (ROOT / "CMakeLists.txt").read_text()
    version = re.search(r"project\(timeloom VERSION ([0-9.]+)", text)[1]
    assert importlib.metadata.version("timeloom") == version
    assert timeloom.__version__ == version
    assert version_of(timeloom_program) == f"timeloom {version}\n"
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_package_has_its_own_program(timeloom_program):
    own = PACKAGE / "bin" / "timeloom"
    assert os.access(own, os.X_OK)
    assert own.read_bytes() == Path(timeloom_program).read_bytes()


def test_a_run_is_woven_where_no_program_is_beside_the_interpreter(tmp_path):
    """As after pip install --target: only the package itself is there."""
    shutil.copytree(PACKAGE, tmp_path / "site" / "timeloom")
    variables = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path / "site")}
    base = sys._base_executable  # type: ignore[attr-defined]
    command = [base, "-m", "timeloom", "--quiet", "-o", "run", "-c", "print(1)"]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("1\n", "")
    assert (tmp_path / "run" / "traces.otf2").is_file()


def test_the_program_needs_no_library_of_otf2(timeloom_program):
    needed = subprocess.run(["ldd", timeloom_program], check=True, capture_output=True, text=True).stdout
    assert "libc.so" in needed
    assert not re.search("otf2|open-trace-format", needed)


def test_the_extension_needs_no_library_of_otf2():
    from timeloom import _core

    maps = subprocess.run(["ldd", _core.__file__], check=True, capture_output=True, text=True).stdout
    assert "libc.so" in maps
    assert not re.search("otf2|open-trace-format", maps)


def test_pytest_finds_the_plugin():
    (plugin,) = [one for one in importlib.metadata.entry_points(group="pytest11") if one.name == "timeloom"]
    assert plugin.load().__name__ == "timeloom.pytest_plugin"


@pytest.mark.parametrize("door", ["timeloom", "scorep", "omnitrace"])
def test_pytest_does_not_complain_of_a_plugin_that_is_imported(tmp_path, door):
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n")
    command = [sys.executable, "-m", door, "-m", "pytest", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "1 passed" in done.stdout
    assert "AssertRewrite" not in done.stdout


def test_types_are_installed():
    assert (PACKAGE / "py.typed").is_file()
    assert (PACKAGE / "_core.pyi").is_file()


def test_the_tests_run_on_what_is_installed():
    assert not PACKAGE.is_relative_to(ROOT / "python")
    assert PACKAGE.is_relative_to(sys.prefix)


@pytest.mark.parametrize("shell", ["bash", "zsh", "sh"])
@pytest.mark.parametrize("name", ["omnitrace", "rocprofiler-systems"])
def test_job_scripts_find_the_commands_of_omnitrace(tmp_path, shell, name):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    script = Path(sys.prefix) / "share" / name / "setup-env.sh"
    known = {"omnitrace_ROOT": sys.prefix} if shell == "sh" else {}
    done = subprocess.run([shell, "-c", f'set -u; . "{script}" && command -v omnitrace-python && echo $omnitrace_ROOT'],
                          cwd=tmp_path, env={"PATH": "/usr/bin:/bin", **known}, capture_output=True, text=True)  # fmt: skip
    assert (done.stdout, done.stderr) == (f"{sys.prefix}/bin/omnitrace-python\n{sys.prefix}\n", "")


def test_a_set_up_script_alone_is_refused(tmp_path):
    script = shutil.copy(Path(sys.prefix) / "share" / "omnitrace" / "setup-env.sh", tmp_path)
    done = subprocess.run(["bash", "-c", f". {script}"], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("omnitrace: there is no omnitrace-python in ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["omnitrace", "rocprofiler-systems"])
def test_the_modulefile_names_the_prefix(tmp_path, name):
    file = Path(sys.prefix) / "share" / "modulefiles" / name / "1.12"
    if shutil.which("tclsh") is None:
        assert file.read_text().startswith("#%Module1.0\n")
        return
    text = f"""
proc module-whatis args {{}}
proc conflict args {{}}
proc setenv {{key value}} {{puts "$key=$value"}}
proc prepend-path {{key value}} {{puts "$key=$value"}}
set ModulesCurrentModulefile "{file}"
source "{file}"
"""
    done = subprocess.run(["tclsh"], input=text, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"omnitrace_ROOT={sys.prefix}\nPATH={sys.prefix}/bin\n", "")
