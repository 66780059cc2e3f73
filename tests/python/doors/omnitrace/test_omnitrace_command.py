"""`omnitrace-python` as a command: words, forms of programs, the end of the program, wrong usage."""

import re
import sys

import pytest
from omnitrace_runs import COMMAND, call_paths, profile, run_directory, run_omnitrace

from omnitrace import _command_line

pytestmark = pytest.mark.any_python

NAMES = ["omnitrace-python", "rocprof-sys-python"]
COMMANDS = [*((name,) for name in NAMES), *((f"{name}-{sys.version_info[0]}.{sys.version_info[1]}",) for name in NAMES),
            COMMAND, (sys.executable, "-m", "rocprofsys")]  # fmt: skip


@pytest.fixture
def app(tmp_path):
    (tmp_path / "app.py").write_text("import sys\nprint(sys.argv)\n")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_each_command_runs_the_program_as_python_does(tmp_path, command):
    (tmp_path / "app.py").write_text("import sys\nprint(sys.argv, sys.orig_argv[1:], __name__, sys.path[0])\n")
    done = run_omnitrace(tmp_path, "--", "app.py", "a b", "*", "", command=command)
    words = ["app.py", "a b", "*", ""]
    assert (done.stdout, done.stderr) == (f"{words} {words} __main__ {tmp_path}\n", "")


@pytest.mark.parametrize(
    "words, argv",
    [
        (["app.py"], ["app.py"]),
        (["./app.py", "--help", "-h"], ["./app.py", "--help", "-h"]),
        (["--", "app.py", "--", "x"], ["app.py", "--", "x"]),
        (["-b", "app.py", "--", "x"], ["app.py", "--", "x"]),
        (["-b", "-v", "0", "-F", "--trace-c", "app.py", "1"], ["app.py", "1"]),
        (["-F", "no", "--trace-c", "F", "-a", "N", "app.py"], ["app.py"]),
        (["-bF", "--label", "args", "file", "line", "app.py"], ["app.py"]),
        (["-v0", "--function-e=x", "-Ey", "-MI", "a", "b", "--", "app.py"], ["app.py"]),
        (["--label", "--", "app.py", "-E", "x"], ["app.py", "-E", "x"]),
        (["--", "python3", "app.py", "x"], ["app.py", "x"]),
        (["--", "python", "-c", "import sys; print(sys.argv)", "x"], ["-c", "x"]),
        (["--", "-c", "import sys; print(sys.argv)", "x"], ["-c", "x"]),
    ],
)
def test_words_of_the_program(app, words, argv):
    done = run_omnitrace(app, *words)
    assert (done.stdout, done.stderr) == (f"{argv}\n", "")


def test_annotations_are_said(app):
    done = run_omnitrace(app, "-a", "--", "app.py")
    assert done.stdout == "['app.py']\n"
    assert done.stderr.startswith("omnitrace: -a: the file and line ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words, argv",
    [(["x", "y"], ["app.py", "x", "y"]), ([], ["app.py"]), (["-b"], ["app.py"]), (["other.py", "1"], ["other.py", "1"]),
     (["--", "other.py"], ["other.py"])],
)  # fmt: skip
@pytest.mark.parametrize("name", ["OMNITRACE", "ROCPROFSYS"])
def test_a_command_without_a_script_takes_that_of_a_variable(app, words, argv, name):
    (app / "other.py").write_text((app / "app.py").read_text())
    done = run_omnitrace(app, *words, OMNITRACE_USE_PID="OFF", **{f"{name}_PYTHON_SCRIPT_FILE": "app.py"})
    assert (done.stdout, done.stderr) == (f"{argv}\n", "")
    assert (run_directory(app).name == "timeloom-run") == (argv[0] == "other.py")  # or with the number of the process


@pytest.mark.parametrize("words", [["-m", "app", "x"], ["--", "-m", "app", "x"], ["--", "python3", "-m", "app", "x"]])
def test_a_module(app, words):
    assert run_omnitrace(app, *words).stdout == f"{[str(app / 'app.py'), 'x']}\n"


def test_a_program_from_stdin(tmp_path):
    done = run_omnitrace(tmp_path, "--", "-", given="print(6 * 7)")
    assert (done.stdout, done.stderr) == ("42\n", "")


def test_a_script_on_the_path(app):
    (app / "bin").mkdir()
    (app / "bin" / "tool.py").write_text("import sys\nprint(sys.argv)\n")
    done = run_omnitrace(app, "--", "tool.py", "x", PATH=f"{app / 'bin'}:/usr/bin:/bin")
    assert done.stdout == f"{[str(app / 'bin' / 'tool.py'), 'x']}\n"


def test_flags_of_python_in_the_command(tmp_path):
    (tmp_path / "app.py").write_text("import sys\nprint(sys.flags.optimize, sys.flags.utf8_mode, sys.warnoptions, sys.argv)\n")
    words = ["--", "python3", "-O", "-X", "utf8", "-Werror", "app.py", "a b"]
    assert run_omnitrace(tmp_path, "-E", "x", *words).stdout == "1 1 ['error'] ['app.py', 'a b']\n"


@pytest.mark.parametrize("end, status, said", [
    ("sys.exit(3)", 3, ""),
    ("sys.exit('no')", 1, "no\n"),
    ("raise ValueError('x')", 1, "ValueError: x\n"),
    ("import os; os._exit(4)", 4, ""),
])  # fmt: skip
def test_the_end_of_the_program_is_its_own(tmp_path, end, status, said):
    (tmp_path / "app.py").write_text(f"import sys\n{end}\n")
    assert run_omnitrace(tmp_path, "app.py", status=status).stderr.endswith(said)


def test_the_program_is_the_real_main(tmp_path):
    text = ("import pickle, sys\nclass C: pass\nprint(type(pickle.loads(pickle.dumps(C()))).__module__, "
            "[name for name in globals() if not name.startswith('__')])\n")  # fmt: skip
    (tmp_path / "app.py").write_text(text)
    assert run_omnitrace(tmp_path, "app.py").stdout == "__main__ ['pickle', 'sys', 'C']\n"


def test_multiprocessing_by_spawn(tmp_path, timeloom_program):
    text = ("import multiprocessing\ndef work(n): return n + 1\nif __name__ == '__main__':\n"
            "    with multiprocessing.get_context('spawn').Pool(1) as pool: print(pool.map(work, [1, 2]))\n")  # fmt: skip
    done, calls = profile(tmp_path, text, "-R", "^work$", timeloom_program=timeloom_program)
    assert done.stdout == "[2, 3]\n"
    assert calls == {"work": 2}


def test_setup_runs_before_and_unprofiled(tmp_path, timeloom_program):
    (tmp_path / "setup.py").write_text("def made(): return 42\nvalue = made()\n")
    text = "def f(): return made()\nprint(value, f(), __file__)\n"
    done, calls = profile(tmp_path, text, "-s", "setup.py", timeloom_program=timeloom_program)
    assert done.stdout == f"42 42 {tmp_path / 'app.py'}\n" or done.stdout == "42 42 app.py\n"
    assert calls == {"f": 1, "f/made": 1}


def test_setup_that_ends_the_program(app):
    (app / "setup.py").write_text("raise SystemExit(5)\n")
    assert run_omnitrace(app, "-s", "setup.py", "app.py", status=5).stdout == ""


def test_only_what_the_program_marks(tmp_path, timeloom_program):
    text = ("def f(): return g()\ndef g(): return 1\n@profile\ndef marked(): return g()\nf()\nmarked()\n"
            "with profile:\n    f()\n@noprofile\ndef hidden(): return f()\n@trace\ndef both(): return hidden() + g()\nboth()\n")  # fmt: skip
    _, calls = profile(tmp_path, text, "-b", timeloom_program=timeloom_program)
    assert calls == {"marked": 1, "marked/g": 1, "f": 1, "f/g": 1, "both": 1, "both/g": 1}


def test_the_marks_are_there_without_b(tmp_path, timeloom_program):
    text = "def g(): return 1\n@profile\ndef f(): return g()\nf()\nwith notrace: g()\ng()\n"
    _, calls = profile(tmp_path, text, timeloom_program=timeloom_program)
    assert calls == {"f": 1, "f/g": 1, "g": 1}


def test_what_is_said_of_the_filters(tmp_path):
    (tmp_path / "app.py").write_text("def f(): pass\ndef g(): pass\nf()\nf()\ng()\n")
    done = run_omnitrace(tmp_path, "-v", "4", "-E", "^g$", "--", "app.py")
    lines = [line for line in done.stderr.splitlines() if "__main__" in line]
    place = tmp_path / "app.py"
    assert lines == [f"omnitrace: __main__.<module> ({place}:1): left out", f"omnitrace: __main__.f ({place}:1): recorded",
                     f"omnitrace: __main__.g ({place}:2): left out with its calls"]  # fmt: skip
    assert run_omnitrace(tmp_path, "-v", "1", "-E", "^g$", "--", "app.py").stderr == ""


@pytest.mark.parametrize(
    "words, line",
    [
        ([], "no script given; write: omnitrace-python [options] -- script.py, or see --help [TL426]"),
        (["--"], "no script given; write: omnitrace-python [options] -- script.py, or see --help [TL426]"),
        (["-b"], "no script given; write: omnitrace-python [options] -- script.py, or see --help [TL426]"),
        (["-E", "f", "app.py"], "no script given; write: omnitrace-python [options] -- script.py, or see --help [TL426]"),
        (["-E"], "-E needs a value: FUNC [FUNC ...] [TL108]"),
        (["-E", "--", "app.py"], "-E needs a value: FUNC [FUNC ...] [TL108]"),
        (["--config"], "--config needs a value: FILE [TL108]"),
        (["-v", "much", "app.py"], "-v: 'much' is not a whole number [TL101]"),
        (["--labels", "args", "app.py"], "unknown option --labels; did you mean --label? [TL109]"),
        (["--function-", "x"], "--function- may be --function-include, --function-exclude, --function-restrict; write one of them [TL105]"),
        (["--trace-c=maybe", "app.py"], "--trace-c: 'maybe' is not accepted; write yes or no [TL101]"),
        (["--label=name", "app.py"], "--label: 'name' is not accepted; write one of args, file, line, qualname [TL101]"),
        (["--builtin=yes", "app.py"], "--builtin takes no value [TL106]"),
        (["-x", "app.py"], "unknown option -x; see --help [TL109]"),
        (["nothere.py"], "there is no script 'nothere.py'; write: omnitrace-python [options] -- script.py [arguments] [TL426]"),
        (["--", "-m"], "-m needs a value: the name of a module [TL108]"),
        (["--", ""], "the name of the script is empty [TL110]"),
        (["--", "python3", "-k", "app.py"], "unknown option -k; see python --help [TL109]"),
        (["-E", "a(b", "--", "app.py"], "--function-exclude: 'a(b' is not a regular expression: missing ), unterminated subpattern at position 1 [TL122]"),
        (["-MI", "[[:digits:]]", "--", "app.py"], "--module-include: '[[:digits:]]' is not a regular expression: unknown class [:digits:] at position 1 [TL122]"),
        (["-s", "nothere", "--", "app.py"], "there is no script 'nothere'; write: omnitrace-python [options] -- script.py [arguments] [TL426]"),
        (["-s", "wrong.py", "--", "app.py"], "--setup wrong.py: invalid syntax (wrong.py, line 1)"),
    ],
)
def test_wrong_usage_is_one_line(app, words, line):
    (app / "wrong.py").write_text("1 +\n")
    done = run_omnitrace(app, *words, status=2)
    assert (done.stdout, done.stderr) == ("", f"omnitrace: {line}\n")
    assert not list(app.rglob("timeloom-run*"))


def test_help():
    text = run_omnitrace("/tmp", "--help").stdout
    assert text == _command_line.help_text()
    for option in _command_line.OPTIONS:
        assert re.search(rf"{option.long}\b", text) and option.short in text


def test_stdout_belongs_to_the_program(app):
    done = run_omnitrace(app, "app.py")
    assert (done.stdout, done.stderr) == ("['app.py']\n", "")
    assert run_directory(app).parent.name == "omnitrace-app-output"


def test_paths_of_a_plain_program(tmp_path, timeloom_program):
    (tmp_path / "app.py").write_text("def f(): return [g() for _ in range(3)]\ndef g(): return 1\nf()\n")
    run_omnitrace(tmp_path, "app.py")
    assert call_paths(tmp_path, timeloom_program) == {"f": 1, "f/g": 3}
