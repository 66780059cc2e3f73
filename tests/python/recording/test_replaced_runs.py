"""A run belongs to its processes: another one under its name gets none of their events, and losses are reported."""

import os
import subprocess
import sys
import textwrap

import pytest
from process_runs import COMMON, Run
from streams import environment

pytestmark = pytest.mark.any_python


def start(directory, name, text, *options):
    program = directory / name
    program.write_text(COMMON + textwrap.dedent(text))
    command = [sys.executable, "-m", "timeloom", "-o", "run", *options, program]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=directory, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment())


@pytest.mark.parametrize("follow", ["all", "workers"])
def test_a_child_that_begins_late_is_none_of_the_run_that_replaced_its_own(tmp_path, timeloom_program, follow):
    (tmp_path / "late.py").write_text(COMMON + "work(7)\n")
    old = start(tmp_path, "old.py", f"""
        import subprocess
        late = ["sh", "-c", "read line; exec {sys.executable} late.py"]
        subprocess.Popen(late, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        """, "--follow", follow)  # fmt: skip
    old.wait(60)  # the child has its standard input
    new = start(tmp_path, "new.py", """
        print("begun", flush=True)
        sys.stdin.readline()
        """, "--follow", follow, "--force")  # fmt: skip
    assert new.stdout.readline() == "begun\n"
    old.communicate("go on\n", 60)  # until the child has ended, which has its standard error
    new.communicate("end\n", 60)
    run = Run(tmp_path / "run", timeloom_program)
    assert run.visits("__main__.step") == [0]
    assert not [name for name in run.info["properties"] if "unmeasured" in name]


def test_a_run_that_is_renamed_stays_that_of_its_program(tmp_path, timeloom_program):
    old = start(tmp_path, "old.py", """
        print("begun", flush=True)
        sys.stdin.readline()
        pid = os.fork()
        work(5)
        if pid: os.waitpid(pid, 0)
        """)  # fmt: skip
    assert old.stdout.readline() == "begun\n"
    (tmp_path / "run").rename(tmp_path / "old")
    new = start(tmp_path, "new.py", """
        print("begun", flush=True)
        sys.stdin.readline()
        work(3)
        """)  # fmt: skip
    assert new.stdout.readline() == "begun\n"
    said = old.communicate("go on\n", 60)[1]
    assert "not woven: the run was removed or renamed meanwhile [TL020]" in said and "next:" not in said
    new.communicate("go on\n", 60)
    assert Run(tmp_path / "run", timeloom_program).visits("__main__.step") == [3]
    assert Run(tmp_path / "old", timeloom_program).visits("__main__.step") == [5]


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed")
def test_a_child_that_may_not_write_there_is_said(tmp_path):
    tmp_path.chmod(0o755)
    program = start(tmp_path, "program.py", """
        os.setgid(65534)
        os.setuid(65534)
        pid = os.fork()
        work(5)
        if pid: print(os.waitpid(pid, 0)[1])
        """)  # fmt: skip
    said, complained = program.communicate(timeout=60)
    assert program.returncode == 0 and said == "0\n"
    assert "is not recorded: cannot create" in complained and "Permission denied" in complained
