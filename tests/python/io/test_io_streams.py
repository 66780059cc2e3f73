"""C streams, directories and children whose descriptors and ends the C library manages itself."""

import json
import subprocess
import sys

import pytest
from io_runs import by_file, io_of  # noqa: F401
from streams import environment

pytestmark = pytest.mark.any_python

HEAD = r"""
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
"""
WITHOUT_DESCRIPTOR = r"""
int main(void) {
  char memory[16] = "", line[16];
  FILE* stream = fmemopen(memory, sizeof memory, "w+");
  errno = 0;
  flockfile(stream), funlockfile(stream);
  if (errno != 0) return 1;
  fputs("abc\n", stream), fprintf(stream, "%d\n", 5), fflush(stream);
  if (errno != 0) return 2;
  fseek(stream, 0, SEEK_SET);
  if (errno != 0 || fgets(line, sizeof line, stream) == NULL || errno != 0) return 3;
  return fclose(stream) == 0 && errno == 0 && strcmp(line, "abc\n") == 0 ? 0 : 4;
}
"""
COOKIE = r"""
static FILE* file;
static int seek(void* cookie, off64_t* offset, int whence) {
  (void)cookie;
  if (whence != SEEK_SET) *offset = 0;
  return fputc('x', file) == 'x' ? 0 : -1;
}
int main(int argc, char** words) {
  const cookie_io_functions_t functions = {.seek = seek};
  file = fopen(words[1], "w");
  FILE* stream = fopencookie(NULL, "r", functions);
  for (int i = 0; i < 3; ++i) fseek(stream, i, SEEK_SET);
  return argc == 2 && fclose(file) == 0 ? 0 : 1;
}
"""
# The pipe gets the numbers of the directory and of the command's output.
CLOSED_INSIDE = r"""
int main(void) {
  char line[16];
  DIR* directory = opendir(".");
  fsync(dirfd(directory));
  FILE* command = popen("echo abc", "r");
  if (fgets(line, sizeof line, command) == NULL) return 1;
  closedir(directory), pclose(command);
  int ends[2];
  if (pipe(ends) != 0) return 2;
  return write(ends[1], "12345", 5) == 5 && read(ends[0], line, 5) == 5 ? 0 : 3;
}
"""
CHILDREN = r"""
static void none(void) {}
static void last(void) { puts("quick"), fflush(stdout); }
static void end(int child) {
  char* const others[] = {"WORD=there", NULL};
  if (child == 0) execl("/bin/sh", "sh", "-c", "echo $0 $1", "a", "b", NULL);
  if (child == 1) execlp("sh", "sh", "-c", "echo $0", "c", NULL);
  if (child == 2) execle("/bin/sh", "sh", "-c", "echo $WORD", NULL, others);
  if (child == 3) execl("/nowhere", "nowhere", NULL), _exit(5);
  at_quick_exit(last);
  quick_exit(6);
}
int main(void) {
  atexit(none);
  for (int child = 0; child < 5; ++child) {
    if (fork() == 0) end(child);
    if (wait(NULL) < 0) return 1;
  }
  return 0;
}
"""


@pytest.fixture
def recorded(tmp_path, timeloom_program):
    """Compile a program, run it under Timeloom and alone, and return its output."""

    def recorded(text, *words):
        source, program = tmp_path / "program.c", tmp_path / "program"
        source.write_text(HEAD + text)
        subprocess.run(["cc", "-w", "-D_GNU_SOURCE", source, "-o", program], check=True)
        said = []
        for begin in ([], [timeloom_program, "run", "--quiet", "--io", "posix", "-o", "run", "--program"]):
            done = subprocess.run([*begin, program, *words], capture_output=True, text=True, timeout=60, env=environment(),
                                  cwd=tmp_path, check=False)  # fmt: skip
            assert done.returncode == 0, done
            said.append(done.stdout)
        assert said[0] == said[1]
        return said[1]

    return recorded


def test_errno_of_streams_without_a_descriptor(recorded):
    recorded(WITHOUT_DESCRIPTOR)


def test_what_a_stream_of_the_program_calls_itself(recorded, tmp_path, io_of):
    recorded(COOKIE, tmp_path / "file")
    written = len((tmp_path / "file").read_text())
    assert written >= 3
    assert by_file(io_of(tmp_path / "run"), tmp_path) == {("file", "write"): (written, written, 1, 1)}


def test_directories_and_commands_are_closed(recorded, tmp_path, io_of):
    recorded(CLOSED_INSIDE)
    rows = {(row["file"], row["operation"]): row["bytes"] for row in io_of(tmp_path / "run")["files"]}
    assert rows[(str(tmp_path), "flush")] == 0
    assert (str(tmp_path), "read") not in rows
    printed = subprocess.run(["otf2-print", tmp_path / "run" / "traces.otf2"], capture_output=True, text=True, check=True)
    assert printed.stdout.count("\nIO_DESTROY_HANDLE ") == 2


def test_children_that_become_programs_or_end_quickly(recorded, tmp_path, timeloom_program):
    assert recorded(CHILDREN) == "a b\nc\nthere\nquick\n"
    command = [timeloom_program, "info", "--json", tmp_path / "run"]
    groups = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["groups"]
    ends = sorted(one["ending"] for one in groups if one["name"].endswith("(fork)"))
    assert ends == [*3 * ["became another program (exec)"], "ended by _exit(5)", "ended by quick_exit(6)"]


ACROSS = """
import os, threading, timeloom
out, into = os.pipe()
reader = threading.Thread(target=os.read, args=(out, 5))
with timeloom.Measurement(output="first", io="posix"):
    reader.start()
    called = f"/proc/self/task/{reader.native_id}/syscall"
    while open(called).read().split()[1:2] != [hex(out)]:
        pass
with timeloom.Measurement(output="second", io="posix"):
    os.write(into, b"12345")
    reader.join()
"""


def test_a_read_that_ends_in_the_next_measurement(tmp_path, timeloom_program):
    (tmp_path / "program.py").write_text(ACROSS)
    preload = subprocess.run([timeloom_program, "preload", "--print", "--io", "posix"], capture_output=True, text=True, check=True)
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
                          env=environment({"LD_PRELOAD": preload.stdout.strip()}))  # fmt: skip
    assert done.returncode == 0, done.stderr
    printed = subprocess.run(["otf2-print", tmp_path / "second" / "traces.otf2"], capture_output=True, text=True, check=True).stdout
    assert printed.count("\nIO_OPERATION_BEGIN ") == printed.count("\nIO_OPERATION_COMPLETE ") > 0
