"""I/O of programs in C, whose processes and threads end in various ways."""

import subprocess

import pytest
from io_runs import by_file, io_of  # noqa: F401
from streams import environment

pytestmark = pytest.mark.any_python

VFORK = r"""
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char** words) {
  const int file = open(words[1], O_CREAT | O_WRONLY, 0600);
  write(file, "1", 1);
  for (int i = 0; i < 3; ++i) {
    if (vfork() == 0) {
      write(file, "child", 5);
      lseek(file, 0, SEEK_CUR);
      fsync(file);
      _exit(0);
    }
  }
  return write(file, "23", 2) != 2 || argc != 2;
}
"""


LAST = r"""
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static pthread_t main_thread;
static char** words;
static void* last(void* argument) {
  pthread_join(main_thread, NULL);
  const int file = open(words[1], O_CREAT | O_WRONLY, 0600);
  return write(file, "123", 3) == 3 && close(file) == 0 && unlink(words[1]) == 0 ? argument : words;
}
int main(int argc, char** all) {
  pthread_t thread;
  main_thread = pthread_self(), words = all;
  return pthread_create(&thread, NULL, last, NULL) == 0 && argc == 2 ? pthread_exit(NULL), 0 : 1;
}
"""


def test_names_of_files_when_the_main_thread_has_ended(tmp_path, io_of, timeloom_program):
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(LAST)
    subprocess.run(["cc", source, "-pthread", "-o", program], check=True)
    command = [timeloom_program, "run", "--quiet", "--io", "posix", "-o", "run", "--program", program, "file"]
    subprocess.run(command, check=True, timeout=60, env=environment(), cwd=tmp_path)
    assert by_file(io_of(tmp_path / "run"), tmp_path) == {("file", "write"): (1, 3, 3, 3)}


@pytest.mark.parametrize("flag", ["-O0", "-O2"])
def test_children_of_vfork_are_other_processes(flag, tmp_path, io_of, timeloom_program):
    """Until they run another program they share their parent's memory, but not its measurement."""
    source, program, file = tmp_path / "program.c", tmp_path / "program", tmp_path / "file"
    source.write_text(VFORK)
    subprocess.run(["cc", "-w", flag, source, "-o", program], check=True)
    command = [timeloom_program, "run", "--quiet", "--io", "posix", "-o", tmp_path / "run", "--program", program, file]
    subprocess.run(command, check=True, timeout=60, env=environment())
    assert file.read_text() == "1" + 3 * "child" + "23"
    assert by_file(io_of(tmp_path / "run"), tmp_path) == {("file", "write"): (2, 3, 1, 2)}
