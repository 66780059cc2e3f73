"""timeloom report --function: by a place in the source, and with its source lines."""

import json
import os

import pytest

pytestmark = pytest.mark.any_python

PROGRAM = """\
def outer():
    def inner():
        return 1
    return inner()


outer()
"""


@pytest.fixture
def recorded(timeloom, tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "shop.py").write_text(PROGRAM)
    timeloom("run", "--quiet", "-o", "run", "app/shop.py", cwd=tmp_path)
    return tmp_path


def source(timeloom, directory, name, *options):
    done = timeloom("report", "--function", name, "--with-source", "--json", *options, directory / "run", cwd=directory)
    return json.loads(done.stdout)["source"]


def test_a_place_names_the_innermost_function(timeloom, recorded):
    for place, name in (("shop.py:1", "outer"), ("app/shop.py:2", "outer.<locals>.inner"), ("shop.py:7", "<module>")):
        facts = json.loads(timeloom("report", "--function", place, "--json", "run", cwd=recorded).stdout)
        assert facts["name"] == f"__main__.{name}" and "source" not in facts
    assert "no function 'shop.py:8' in this run" in timeloom("report", "--function", "shop.py:8", "run", cwd=recorded, status=1).stderr


def test_the_source_is_data_and_text(timeloom, recorded):
    file = recorded / "app" / "shop.py"
    assert source(timeloom, recorded, "outer") == {
        "file": str(file), "first": 1, "from": 1, "to": 4, "changed": False, "lines": PROGRAM.splitlines(),
    }  # fmt: skip
    text = timeloom("report", "--function", "inner", "--with-source", "run", cwd=recorded).stdout
    lines = [f"{number:5} {line}" for number, line in enumerate(PROGRAM.splitlines()[:6], 1)]
    assert text.splitlines()[-7:] == [str(file), *lines]
    os.utime(file)
    assert source(timeloom, recorded, "outer")["changed"] is True
    assert f"{file}  changed after the start of the run\n" in timeloom(
        "report", "--function", "outer", "--with-source", "run", cwd=recorded
    ).stdout


def test_files_outside_are_not_read(timeloom, recorded, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (recorded / "run").rename(elsewhere / "run")
    assert source(timeloom, elsewhere, "outer") == {
        "reason": f"The file {recorded}/app/shop.py is not below the working folder of the command; --source DIR names another."
    }
    assert source(timeloom, elsewhere, "outer", "--source", recorded)["lines"] == PROGRAM.splitlines()
    (elsewhere / "shop.py").symlink_to(recorded / "app" / "shop.py")
    assert "reason" in source(timeloom, elsewhere, "outer", "--source", elsewhere)


def test_options_without_effect_are_refused(timeloom, recorded):
    for options in (["--with-source"], ["--source", "."], ["--function", "outer", "--source", "."],
                    ["--function", "outer", "--slowest", "--with-source"]):  # fmt: skip
        assert "with --" in timeloom("report", *options, "run", cwd=recorded, status=2).stderr


def test_functions_in_two_files_have_no_lines_in_common(timeloom, recorded):
    for module in ("first", "second"):
        (recorded / "app" / f"{module}.py").write_text("def work():\n    pass\n")
    (recorded / "app" / "both.py").write_text("import first, second\nfirst.work()\nsecond.work()\n")
    timeloom("run", "--quiet", "-o", "both", "app/both.py", cwd=recorded)
    reason = (
        f"no source lines: the functions are in 2 files ({recorded}/app/first.py, {recorded}/app/second.py); "
        "--function FILE:LINE chooses one"
    )
    answer = timeloom("report", "--function", "*.work", "--with-source", "both", cwd=recorded, COLUMNS="300").stdout
    assert answer.splitlines()[-1] == reason
    facts = json.loads(timeloom("report", "--function", "*.work", "--with-source", "--json", "both", cwd=recorded).stdout)
    assert facts["source"] == {"reason": reason}
    assert "no source lines" not in timeloom("report", "--function", "*.work", "both", cwd=recorded).stdout
    one = timeloom("report", "--function", "first.py:1", "--with-source", "both", cwd=recorded).stdout
    assert one.splitlines()[-2:] == ["    1 def work():", "    2     pass"]
