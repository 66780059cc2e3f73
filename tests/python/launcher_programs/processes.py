"""Child processes, streams and interactive use."""

from launcher_programs import program, script

for method in ("fork", "spawn", "forkserver"):
    script(
        "multiprocessing_" + method,
        f'''
    import multiprocessing as mp, os, sys
    class C:
        def __init__(self, x): self.x = x
    def square(c): return C(c.x ** 2)
    def leave(code): sys.exit(code)
    def fail(): 1/0
    if __name__ == "__main__":
        mp.set_start_method("{method}")
        with mp.Pool(2) as pool:
            print([c.x for c in pool.map(square, [C(n) for n in range(5)])])
        p = mp.Process(target=leave, args=(3,)); p.start(); p.join(); print(p.exitcode)
        p = mp.Process(target=fail, name="P"); p.start(); p.join(); print(p.exitcode)
    ''',
    )
program(
    "multiprocessing_module",
    "-m",
    "pack.mod",
    files={
        "pack/__init__.py": "",
        "pack/mod.py": """
import multiprocessing as mp
def show(q): q.put((__name__, show.__module__))
if __name__ == "__main__":
    context = mp.get_context("spawn")
    q = context.Queue(); p = context.Process(target=show, args=(q,)); p.start(); print(q.get()); p.join()
""",
    },
)
script(
    "fork",
    """
import atexit, os, sys
atexit.register(lambda: print("atexit", os.getpid() == parent, flush=True))
parent = os.getpid()
def child(action):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        action()
        return False
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    return True
if child(lambda: sys.exit(4)) and child(lambda: os._exit(5)) and child(lambda: 1/0) and child(lambda: None):
    print("parent done")
""",
)
script(
    "subprocess",
    """
import subprocess, sys
print(subprocess.run([sys.executable, "-c", "import sys; print(sys.argv, 'timeloom' in sys.modules)", "x"], capture_output=True, text=True))
print(subprocess._args_from_interpreter_flags())
""",
    flags=["-B", "-Wignore"],
)
script(
    "exec",
    """
import os, sys
if len(sys.argv) == 1:
    print("first", flush=True)
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:], "again"])
print("second", sys.argv[1:])
""",
)
script(
    "process_pool",
    """
from concurrent.futures import ProcessPoolExecutor
def f(x): return x + 1
if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool: print(list(pool.map(f, range(4))))
""",
)


script(
    "stdin_is_the_programs",
    "import sys; print(sys.stdin.read(), input.__name__)",
    stdin="text\nmore",
)
script("no_newline_at_the_end", "import sys; sys.stdout.write('out'); sys.stderr.write('err')")
script(
    "unbuffered",
    "import sys, os; sys.stdout.write('a'); os.write(1, b'b'); print(sys.stdout.write_through)",
    flags=["-u"],
)
script("stdout_closed", "import os, sys; print('lost'); os.close(1)")
script("stderr_closed", "import os, sys; os.close(2); sys.stderr.write('lost'); print('kept')")
script("stdout_none", "import sys; sys.stdout = None; print('lost'); sys.exit('message')")
script("stderr_replaced", "import io, sys; sys.stderr = io.StringIO(); 1/0")
script(
    "stderr_given_to_a_file",
    """
import os
os.dup2(os.open("log", os.O_CREAT | os.O_WRONLY), 2)
import atexit
atexit.register(lambda: print(os.path.getsize("log")))
""",
)
script("stdout_full", "import os; os.dup2(os.open('/dev/full', os.O_WRONLY), 1); print('x')")
script(
    "descriptors",
    """
import os
first = open("a", "w")
print(first.fileno())
""",
)
script(
    "closes_all_descriptors",
    """
import os
os.closerange(3, 256)
print("done")
""",
)
script("encoding_of_output", "print('ü')", environment={"PYTHONIOENCODING": "latin-1"})
script(
    "c_locale",
    "import sys; print(sys.stdout.encoding, sys.getfilesystemencoding(), ascii(sys.argv))",
    "ü",
    environment={"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
)


script(
    "inspect",
    "x = 5\nprint('ran')",
    flags=["-i", "-q"],
    stdin="print(x, __name__)\nimport sys; sys.exit(3)\n",
)
script(
    "inspect_exception",
    "x = 5\n1/0",
    flags=["-i", "-q"],
    stdin="print(x, repr(sys.last_value)) if 'sys' in dir() else print(x)\n",
)
script("inspect_exit", "x = 5\nraise SystemExit(4)", flags=["-i", "-q"], stdin="print(x)\n")
program(
    "inspect_command", "-c", "x = 5\nraise SystemExit(4)", flags=["-i", "-q"], stdin="print(x)\n"
)
program(
    "inspect_module",
    "-m",
    "mod",
    files={"mod.py": "x = 5\nraise SystemExit(4)"},
    flags=["-i", "-q"],
    stdin="print(x)\n",
)
program(
    "inspect_module_exception",
    "-m",
    "mod",
    files={"mod.py": "x = 5\n1/0"},
    flags=["-i", "-q"],
    stdin="print(x)\n",
)
script("inspect_variable", "x = 5\n1/0", environment={"PYTHONINSPECT": "1"}, stdin="print(x)\n")
script("inspect_variable_exit", "raise SystemExit(4)", environment={"PYTHONINSPECT": "1"}, stdin="")
script(
    "inspect_set_by_program",
    "import os; os.environ['PYTHONINSPECT'] = '1'; 1/0",
    stdin="print(x)\n",
)
