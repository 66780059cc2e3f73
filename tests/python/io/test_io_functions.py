"""Functions that the wrapper library of `--io posix` wraps, each called by a program in C, or by Python."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from io_runs import by_file, data, io_of, record, wrapped_functions  # noqa: F401
from streams import environment

pytestmark = pytest.mark.any_python

MANUAL = Path(__file__).resolve().parents[3] / "docs" / "wrappers.md"

# Compilers choose among variants of a function: for old C, for C99, and with checks of the buffer size.
FORMS = {"old": ["-std=gnu89", "-O0"], "C99": ["-std=gnu11", "-O0"], "checked": ["-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]}


@pytest.fixture
def recorded(tmp_path, timeloom_program):
    """Compiles a program, runs it in the folder under Timeloom, and names the run."""

    def recorded(text, form, given="", *options):
        source, program = tmp_path / "program.c", tmp_path / "program"
        source.write_text(text)
        subprocess.run(["cc", "-w", "-D_GNU_SOURCE", *FORMS[form], source, "-o", program], check=True)
        (tmp_path / "given").write_text(given)
        command = [timeloom_program, "run", "--quiet", "--io", "posix", *options, "-o", "run", "--program", program]
        with (tmp_path / "given").open() as words:
            subprocess.run(command, check=True, timeout=60, env=environment(), cwd=tmp_path, stdin=words)
        return tmp_path / "run"

    return recorded


@pytest.fixture
def visits(timeloom_program):
    """Return the number of calls of each function, in a run of a program without Python."""

    def visits(run):
        command = [timeloom_program, "report", "--flat", "--json", run]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows = json.loads(done.stdout)["flat"]["rows"]
        return {row["name"]: row["visits"] for row in rows if row["name"] != "program"}

    return visits


def by_function(report):
    """(operations, bytes) by function and operation."""
    return {(row["path"][-1], row["operation"]): (row["operations"], row["bytes"]) for row in report["call_paths"]}


def imported(program):
    """Return the C library's functions that a program uses."""
    done = subprocess.run(["nm", "-D", "--undefined-only", program], capture_output=True, text=True, check=True)
    return {line.split()[-1].partition("@")[0] for line in done.stdout.splitlines()}


SCAN = r"""
#include <stdarg.h>
#include <stdio.h>
static int take(const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int taken = vscanf(format, values);
  va_end(values);
  return taken;
}
int main(void) {
  int a = 0, b = 0, c = 0;
  return scanf("%d %d", &a, &b) == 2 && take("%d", &c) == 1 && a + b + c == 666 ? 0 : 1;
}
"""


@pytest.mark.parametrize("form", FORMS)
def test_numbers_from_standard_input(form, recorded, io_of, tmp_path):
    report = io_of(recorded(SCAN, form, "111 222\n333\n444\n"))
    names = imported(tmp_path / "program")
    assert len({"scanf", "__isoc99_scanf", "__isoc23_scanf"} & names) == 1
    assert ("scanf" in names) == (form == "old")
    assert by_function(report) == {("scanf", "read"): (1, 7), ("vscanf", "read"): (1, 4)}
    assert by_file(report, tmp_path) == {("given", "read"): (2, 11, 4, 7)}


LINES = r"""
#include <stdio.h>
int main(void) {
  char* line = NULL;
  size_t room = 0;
  ssize_t sum = 0, size;
  FILE* stream = fopen("given", "r");
  sum += getline(&line, &room, stream);
  sum += getline(&line, &room, stream);
  sum += getdelim(&line, &room, ';', stream);
  while ((size = __getdelim(&line, &room, '\n', stream)) > 0) sum += size;
  return fclose(stream) != 0 || sum != 26;
}
"""


@pytest.mark.parametrize("form", FORMS)
def test_lines_of_any_size(form, recorded, io_of, tmp_path):
    report = io_of(recorded(LINES, form, "a line\n\nup to;the end\nopen"))
    # With optimisation, getline() is compiled to the C library's own variant of getdelim().
    own = {("getline", "read"): (2, 8), ("getdelim", "read"): (4, 18)}
    assert by_function(report) == (own if form != "checked" else {("getdelim", "read"): (6, 26)})
    assert by_file(report, tmp_path)["given", "read"] == (6, 26, 0, 8)


PRINT = r"""
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
static int put(int file, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int size = vdprintf(file, format, values);
  va_end(values);
  return size;
}
int main(int count, char** words) {
  const int file = open("printed", O_CREAT | O_WRONLY, 0600);
  return dprintf(file, "%d words\n", count) != 8 || put(file, "%s", "more\n") != 5 || dprintf(-1, "%d", count) != -1;
}
"""


@pytest.mark.parametrize("form", FORMS)
def test_text_to_descriptors(form, recorded, io_of, tmp_path):
    report = io_of(recorded(PRINT, form))
    assert ({"__dprintf_chk", "__vdprintf_chk"} <= imported(tmp_path / "program")) == (form == "checked")
    assert by_function(report) == {("dprintf", "write"): (1, 8), ("vdprintf", "write"): (1, 5)}
    assert by_file(report, tmp_path) == {("printed", "write"): (2, 13, 5, 8)}
    assert (tmp_path / "printed").read_text() == "1 words\nmore\n"


TEMPORARY = r"""
#include <stdio.h>
int main(void) {
  FILE *one = tmpfile(), *other = tmpfile64();
  const int done = fputs("123", one) >= 0 && fputs("4567", other) >= 0;
  return fclose(one) != 0 || fclose(other) != 0 || !done;
}
"""


def test_temporary_files(recorded, io_of, timeloom_program):
    run = recorded(TEMPORARY, "C99")
    files = [row for row in io_of(run)["files"] if row["operation"] == "write"]
    assert sorted(row["bytes"] for row in files) == [3, 4]
    assert all("(deleted)" in row["file"] for row in files)


VECTORS = r"""
#include <fcntl.h>
#include <sys/uio.h>
int main(void) {
  char data[8];
  struct iovec out[] = {{"abc", 3}, {"defg", 4}}, in[] = {{data, 8}};
  const int file = open("parts", O_CREAT | O_RDWR, 0600);
  return pwritev2(file, out, 2, 0, 0) != 7 || pwritev64v2(file, out, 1, -1, RWF_APPEND) != 3 ||
         preadv2(file, in, 1, 0, 0) != 8 || preadv64v2(file, in, 1, 8, 0) != 2 || preadv2(file, in, 1, 10, 0) != 0;
}
"""


def test_vectors_with_flags(recorded, io_of, tmp_path):
    report = io_of(recorded(VECTORS, "C99"))
    assert by_function(report) == {("pwritev2", "write"): (2, 10), ("preadv2", "read"): (3, 10)}
    assert by_file(report, tmp_path) == {("parts", "write"): (2, 10, 3, 7), ("parts", "read"): (3, 10, 0, 8)}


LOCKS = r"""
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  FILE* stream = fopen("locked", "w+");
  const int file = fileno(stream);
  if (lockf(file, F_LOCK, 4) != 0 || lockf64(file, F_TEST, 4) != 0 || lockf(file, F_ULOCK, 0) != 0) return 1;
  if (lockf(-1, F_LOCK, 0) != -1 || errno != EBADF) return 2;
  flockfile(stream);
  if (ftrylockfile(stream) != 0) return 3;
  funlockfile(stream);
  funlockfile(stream);
  return fclose(stream);
}
"""


def test_locks_of_files_and_streams(recorded, visits):
    assert visits(recorded(LOCKS, "C99")) == {
        "fopen": 1, "fclose": 1, "lockf": 4, "flockfile": 1, "ftrylockfile": 1, "funlockfile": 2}  # fmt: skip


REQUESTS = r"""
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
static ssize_t finish(struct aiocb* request) {
  const struct aiocb* all[] = {request};
  while (aio_error(request) == EINPROGRESS) aio_suspend(all, 1, NULL);
  return aio_return(request);
}
static struct aiocb make(int file, int operation, char* data, size_t size, off_t offset) {
  struct aiocb request;
  memset(&request, 0, sizeof request);
  request.aio_fildes = file, request.aio_lio_opcode = operation;
  request.aio_buf = data, request.aio_nbytes = size, request.aio_offset = offset;
  return request;
}
int main(void) {
  char text[] = "0123456789", data[3][16];
  const int file = open("asked", O_CREAT | O_RDWR, 0600);
  struct aiocb out = make(file, LIO_NOP, text, 10, 0), in = make(file, LIO_NOP, data[0], 16, 4);
  if (aio_write(&out) != 0 || finish(&out) != 10 || aio_read64((void*)&in) != 0 || finish(&in) != 6) return 1;
  struct aiocb part = make(file, LIO_READ, data[1], 3, 0), more = make(file, LIO_WRITE, text, 2, 10);
  struct aiocb none = make(file, LIO_NOP, data[2], 16, 0);
  struct aiocb* all[] = {&part, NULL, &more, &none};
  if (lio_listio(LIO_WAIT, all, 4, NULL) != 0 || aio_return(&part) != 3 || aio_return(&more) != 2) return 2;
  struct aiocb flush = make(file, LIO_NOP, NULL, 0, 0);
  if (aio_fsync(O_SYNC, &flush) != 0 || finish(&flush) != 0) return 3;
  struct aiocb wrong = make(-1, LIO_NOP, data[2], 16, 0);
  const int refused = aio_read(&wrong) != 0 || finish(&wrong) == -1;
  aio_cancel(file, NULL);
  /* The descriptor is another file's when the request says what it has read. */
  struct aiocb late = make(file, LIO_NOP, data[2], 5, 0);
  const struct aiocb* of_late[] = {&late};
  if (aio_read(&late) != 0) return 4;
  while (aio_error(&late) == EINPROGRESS) aio_suspend(of_late, 1, NULL);
  if (close(file) != 0 || open("other", O_CREAT | O_RDWR, 0600) != file || aio_return(&late) != 5) return 5;
  return refused ? 0 : 6;
}
"""

CALLED = {"open": 2, "close": 1, "aio_write": 1, "aio_read": 3, "lio_listio": 1, "aio_fsync": 1, "aio_cancel": 1, "aio_return": 7}


def test_requests_count_where_they_are_complete(recorded, io_of, visits, tmp_path):
    run = recorded(REQUESTS, "C99")
    names = visits(run)
    assert names.pop("aio_error") >= 5
    names.pop("aio_suspend", None)  # a request may be complete at once
    assert names == CALLED
    report = io_of(run)
    assert by_function(report) == {("aio_return", "read"): (3, 14), ("aio_return", "write"): (2, 12)}
    assert by_file(report, tmp_path) == {("asked", "write"): (2, 12, 2, 10), ("asked", "read"): (3, 14, 3, 6)}


def test_requests_have_no_bandwidth(recorded, io_of, timeloom_program):
    """Their durations are not known."""
    run = recorded(REQUESTS, "C99")
    assert {row["bytes_per_second"] for row in io_of(run)["files"]} == {None}
    text = subprocess.run([timeloom_program, "report", "--io", run], capture_output=True, text=True, check=True).stdout
    assert "14 B" in text and "B/s" not in text


def test_requests_in_a_profile(recorded, io_of):
    report = io_of(recorded(REQUESTS, "C99", "", "--profile"))
    assert by_function(report)["aio_return", "read"][1] == 14
    assert by_function(report)["aio_return", "write"][1] == 12


PYTHON = """
import os, sys


def store(file):
    assert os.pwritev(file, [b"abc", b"defgh"], 0, os.RWF_DSYNC) == 8
    assert os.pwritev(file, [b"12"], 8) == 2


def load(file):
    parts = [bytearray(3), bytearray(4)]
    assert os.preadv(file, parts, 5, os.RWF_HIPRI) == 5 and parts == [b"fgh", b"12\\0\\0"]


def lock(file):
    os.lockf(file, os.F_LOCK, 0)
    os.lockf(file, os.F_ULOCK, 0)


file = os.open(sys.argv[1] + "/data", os.O_RDWR | os.O_CREAT)
store(file)
load(file)
lock(file)
"""


def below_functions(report):
    return {(*row["path"][-2:], row["operation"]): (row["operations"], row["bytes"]) for row in report["call_paths"]}


def test_calls_of_python_lie_below_their_functions(record, io_of, data):
    run = record(PYTHON)
    report = io_of(run)
    assert below_functions(report) == {
        ("__main__.store", "pwritev2", "write"): (2, 10), ("__main__.load", "preadv2", "read"): (1, 5)}  # fmt: skip
    assert by_file(report, data) == {("data", "write"): (2, 10, 2, 8), ("data", "read"): (1, 5, 5, 5)}
    assert (data / "data").read_bytes() == b"abcdefgh12"


def test_locks_of_python_lie_below_their_function(record, timeloom_program):
    command = [timeloom_program, "report", "--tree", "--json", record(PYTHON)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = {row["id"]: row for row in json.loads(done.stdout)["tree"]["rows"]}
    (lock,) = (row for row in rows.values() if row["name"] == "lockf")
    assert (rows[lock["parent"]]["name"], lock["visits"]) == ("__main__.lock", 2)


def test_the_table_of_the_manual_is_what_is_wrapped(timeloom_program):
    _, _, section = MANUAL.read_text().partition("\n## Input and output\n")
    table, _, _ = section.partition("\n\nForms of a function")
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    # Of fcntl() there are two rows, with commands.
    assert wrapped_functions(timeloom_program) == {name for row in rows for name in re.findall("`([a-z_0-9]+)`", row)}
