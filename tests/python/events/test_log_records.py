"""Records of Python's logging as marks on the timeline (--logging)."""

import pytest
from spool_reader import spools_of
from streams import INSTRUMENTERS, run_python

PROGRAM = """
import logging, sys, threading

class Loud:
    def __str__(self):
        print("asked")
        return "loud"

logger = logging.getLogger("plate.slab")
logger.addHandler(logging.NullHandler())
logger.propagate = False
logger.setLevel(logging.INFO)
logger.addFilter(lambda record: record.msg != "a secret")
logger.debug("too low for the logger")
logger.info("step %d of %s", 3, "nine")
logger.warning("%(part)s is hot", {"part": "rim"})
logger.error("given %s", Loud())
logger.error("one %d", "two")
logger.critical("a secret")
logger.critical(ValueError("no text"))
logger.log(35, "x" * 1000)
thread = threading.Thread(target=logger.warning, args=("of the other thread",))
thread.start()
thread.join()
"""

MARKS = {
    "info": ["INFO plate.slab: step 3 of nine"],
    "warning": ["WARNING plate.slab: rim is hot", "ERROR plate.slab: given %s", "ERROR plate.slab: one %d",
                "Level 35 plate.slab: " + "x" * 500, "WARNING plate.slab: of the other thread"],
    "critical": ["CRITICAL plate.slab: ValueError"],
}
MARKS["warning"].insert(3, MARKS["critical"][0])
MARKS["info"] += MARKS["warning"]


def marks_of(directory):
    (spool,) = spools_of(directory / "run")
    return spool.markers


def run(directory, instrumenter, *options, program=PROGRAM):
    (directory / "program.py").write_text(program)
    launcher = ["-m", "timeloom", "--quiet", "--no-weave", "--instrumenter", instrumenter, "--output", "run"]
    process = run_python([*launcher, *options, "program.py"], directory)
    assert process.returncode == 0, process.stderr
    return process


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
@pytest.mark.parametrize("level", MARKS)
def test_records_are_marks_on_their_threads(level, instrumenter, tmp_path):
    process = run(tmp_path, instrumenter, "--logging", level)
    assert (process.stdout, process.stderr) == ("", "")
    marks = marks_of(tmp_path)
    assert [text for _, _, text in marks] == MARKS[level]
    assert [ticks for _, ticks, _ in marks] == sorted(ticks for _, ticks, _ in marks)
    others = {text for location, _, text in marks if location != marks[0][0]}
    assert others == ({"WARNING plate.slab: of the other thread"} if len(marks) > 1 else set())


def test_without_the_option_there_are_no_marks(tmp_path):
    run(tmp_path, INSTRUMENTERS[0])
    assert marks_of(tmp_path) == []


def test_a_program_that_logs_very_much_is_told_so(tmp_path):
    program = """
import logging
logger = logging.getLogger()
logger.addHandler(logging.NullHandler())
for i in range(20_050): logger.warning("number %d", i)
"""
    process = run(tmp_path, INSTRUMENTERS[0], "--logging", "debug", program=program)
    line = "timeloom: --logging: the process has 20,000 marks, and gets no more: choose a higher level [TL735]\n"
    assert process.stderr == line
    (spool,) = spools_of(tmp_path / "run")
    assert spool.lost == 50
    assert [text for _, _, text in marks_of(tmp_path)] == [f"WARNING root: number {i}" for i in range(20_000)]
