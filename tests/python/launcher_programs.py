"""Small programs that must behave the same under plain python and under Timeloom.

Each case is (name, command, files, stdin, environment). The command is what
follows `python`: flags of the interpreter, then the program. test_launcher.py
runs it both ways in the same directory.
"""

from textwrap import dedent
from typing import NamedTuple


class Case(NamedTuple):
    name: str
    flags: list[str]
    program: list[str]
    files: dict[str, str | bytes] = {}
    stdin: str | None = None
    environment: dict[str, str] = {}
    links: dict[str, str] = {}
    options: list[str] = []  # of Timeloom


CASES: list[Case] = []


def script(name, text, *arguments, flags=(), stdin=None, files=None, environment=None, options=()):
    """A program app.py."""
    contents = {"app.py": dedent(text) if isinstance(text, str) else text, **(files or {})}
    words = ["app.py", *arguments]
    CASES.append(
        Case(name, list(flags), words, contents, stdin, environment or {}, {}, list(options))
    )


def program(name, *words, flags=(), files=None, stdin=None, environment=None, links=None):
    """Any other way to start one."""
    contents = {
        path: dedent(text) if isinstance(text, str) else text
        for path, text in (files or {}).items()
    }
    CASES.append(
        Case(name, list(flags), list(words), contents, stdin, environment or {}, links or {})
    )


SHOW = """
import sys
def show():
    main = sys.modules["__main__"]
    print(type(main), __name__, main.__dict__ is globals())
    for name, value in list(globals().items()):
        if name.startswith("__"):
            print(name, type(value), "loader" if name == "__loader__" else value)
    print(getattr(__loader__, "name", __loader__), getattr(__loader__, "path", None))
    print(sys.argv, sys.orig_argv, sys.path, sys.flags)
    print([name for name in sys.modules if name.split(".")[0] != "timeloom"])
show()
"""

# --- What the program finds -----------------------------------------------------------------

script("empty", "")
script("hello", "print('hello')")
script("state", SHOW, "a", "--quiet", "-m", "-X", "--", "")
program("state_command", "-c", SHOW, "a", "-b")
program("state_stdin", "-", "a", stdin=SHOW)
program("state_module", "-m", "mod", "a", files={"mod.py": SHOW})
program(
    "state_package",
    "-m",
    "pack",
    "a",
    files={"pack/__init__.py": "import sys; print(sys.argv)", "pack/__main__.py": SHOW},
)
program(
    "state_submodule", "-m", "pack.sub", "a", files={"pack/__init__.py": "", "pack/sub.py": SHOW}
)
program("state_directory", "app", "a", files={"app/__main__.py": SHOW})
program("state_directory_slash", "app/", files={"app/__main__.py": SHOW})
program("state_this_directory", ".", files={"__main__.py": SHOW})
program("state_zip", "app.zip", "a", files={"app.zip": b"zip:" + SHOW.encode()})
program("state_dot", "./app.py", files={"app.py": SHOW})
program(
    "state_below",
    "sub/app.py",
    files={"sub/app.py": "import near\n" + SHOW, "sub/near.py": "print('near')"},
)
program("state_above", "sub/../app.py", files={"app.py": SHOW, "sub/x": ""})
program(
    "state_link",
    "bin/app",
    files={"lib/app.py": "import near\n" + SHOW, "lib/near.py": ""},
    links={"bin/app": "../lib/app.py"},
)
program("state_link_here", "app", files={"app.py": SHOW}, links={"app": "app.py"})
program("state_no_suffix", "app", files={"app": SHOW})
program("state_strange_name", "a b'ü.py", files={"a b'ü.py": SHOW})
program("state_bytes_name", "a\udcff.py", files={"a\udcff.py": SHOW})
program("state_pyc", "app.pyc", "a", files={"app.pyc": b"pyc:" + SHOW.encode()})
program("state_dash_name", "--", "-app.py", files={"-app.py": SHOW})
for number, flag in enumerate(
    (
        ["-I"],
        ["-P"],
        ["-E"],
        ["-s"],
        ["-O"],
        ["-OO"],
        ["-B"],
        ["-u"],
        ["-bb"],
        ["-q"],
        ["-X", "dev"],
        ["-Xutf8"],
        ["-W", "error"],
        ["-Wignore", "-Werror::UserWarning"],
        ["-OBu"],
        ["-d"],
        ["--check-hash-based-pycs", "never"],
    )
):
    name = "_".join(flag).replace("-", "")
    script("flag_" + name, SHOW + "assert False, 'asserts'\n", flags=flag)
program("flag_I_module", "-m", "json.tool", flags=["-I"], stdin="{}")
program("flag_I_command", "-c", SHOW, flags=["-I"])
program("flag_I_directory", "app", flags=["-I"], files={"app/__main__.py": SHOW})
script("safe_path_variable", SHOW, environment={"PYTHONSAFEPATH": "1"})
script("skip_first_line", "this is no python\nprint('second')\n1/0\n", flags=["-x"])
script(
    "docstrings",
    '''"""Doc."""
def f():
    "Doc of f."
print(__doc__, f.__doc__)
''',
    flags=["-OO"],
)
script(
    "modules_of_a_package_beside",
    "import near.deep; print(near.deep.__file__)",
    files={"near/__init__.py": "", "near/deep.py": ""},
)
script(
    "script_shadows_a_module",
    "import tomllib; print(tomllib)",
    files={"tomllib.py": "raise RuntimeError('taken')"},
)
script(
    "importlib_has_no_util",
    """
import importlib
print(hasattr(importlib, "util"))
import importlib.util
print(importlib.util.find_spec("json").name)
""",
)
program(
    "script_with_same_module_names",
    "sub/app.py",
    files={
        "sub/app.py": "import contextlib, types, warnings, runpy, functools; print(warnings, runpy)"
    },
)

# --- How it ends ----------------------------------------------------------------------------

for number, payload in enumerate(
    (
        "",
        "0",
        "3",
        "-1",
        "256",
        "None",
        "'text'",
        "True",
        "(1, 2)",
        "ValueError('v')",
        "2.5",
        "10**30",
        "'ü'",
    )
):
    script(f"exit_{number}", f"import sys; sys.exit({payload})")
    program(f"exit_command_{number}", "-c", f"import sys; sys.exit({payload})")
    program(f"exit_module_{number}", "-m", "mod", files={"mod.py": f"raise SystemExit({payload})"})
script(
    "exit_in_a_thread",
    """
import sys, threading
t = threading.Thread(target=lambda: sys.exit(5)); t.start(); t.join()
""",
)
script(
    "exit_with_attributes",
    """
class Odd(SystemExit):
    code = 7
raise Odd("text")
""",
)
script("os_exit", "import os; print('kept?', flush=True); os._exit(7)")
script(
    "exit_through_finally",
    """
import sys
try:
    sys.exit(4)
finally:
    print("finally")
""",
)
RAISE = """
import near
def inner(): raise KeyError("ü")
def outer():
    try: inner()
    except KeyError as error: raise ValueError("wrong") from error
near.call(outer)
"""
NEAR = "def call(f):\n    return f()\n"
script("exception", RAISE, files={"near.py": NEAR})
program("exception_command", "-c", RAISE, files={"near.py": NEAR})
program("exception_stdin", "-", stdin=RAISE, files={"near.py": NEAR})
program("exception_module", "-m", "mod", files={"mod.py": RAISE, "near.py": NEAR})
program("exception_directory", "app", files={"app/__main__.py": RAISE, "app/near.py": NEAR})
program("exception_zip", "app.zip", files={"app.zip": b"zip:def f(): 1/0\nf()\n"})
program("exception_pyc", "app.pyc", files={"app.pyc": b"pyc:def f(): 1/0\nf()\n"})
script("exception_group", "raise ExceptionGroup('g', [ValueError(1), TypeError(2)])")
script(
    "exception_with_notes",
    """
e = ValueError("v"); e.add_note("a note"); raise e
""",
)
script("exception_in_import", "import near", files={"near.py": "1/0"})
script("syntax_error", "x = 1\nif x\n    pass\n")
program("syntax_error_command", "-c", "x = (")
program("syntax_error_module", "-m", "mod", files={"mod.py": "def f(:\n"})
program("syntax_error_stdin", "-", stdin="f(\n")
script("syntax_error_in_import", "import near", files={"near.py": "def f(:\n"})
script("syntax_warning", "print(1 is 1)\n'\\d'\n")
program("syntax_warning_command", "-c", "print(1 is 1)")
script("indentation_error", "if 1:\npass\n")
script("tab_error", "if 1:\n\tx = 1\n        y = 2\n")
script("null_byte", b"x = 1\0\n")
script("latin_1", "# -*- coding: latin-1 -*-\nprint('\xfc')\n".encode("latin-1"))
script("bad_utf_8", b"print('\xfc')\n")
script("unknown_encoding", b"# coding: nothing\n")
script("byte_order_mark", b"\xef\xbb\xbfprint('bom', __file__[-6:])\n")
script("carriage_returns", b"def f():\r\n    1/0\r\nf()\r\n")
script("keyboard_interrupt", "raise KeyboardInterrupt")
program("keyboard_interrupt_command", "-c", "raise KeyboardInterrupt")
program("keyboard_interrupt_module", "-m", "mod", files={"mod.py": "raise KeyboardInterrupt('k')"})
program("keyboard_interrupt_directory", "app", files={"app/__main__.py": "raise KeyboardInterrupt"})
program("keyboard_interrupt_stdin", "-", stdin="raise KeyboardInterrupt")
for signal in (
    "SIGINT",
    "SIGTERM",
    "SIGKILL",
    "SIGABRT",
    "SIGHUP",
    "SIGUSR1",
    "SIGPIPE",
    "SIGCHLD",
):
    script(
        "killed_by_" + signal,
        f"""
    import os, signal, time
    print("before", flush=True)
    os.kill(os.getpid(), signal.{signal})
    for _ in range(20): time.sleep(0.01)
    print("after")
    """,
    )
script(
    "keyboard_interrupt_caught",
    """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
    while True: pass
except KeyboardInterrupt as error:
    print("caught", error.__traceback__.tb_frame.f_back)
""",
)
script(
    "signal_handler",
    """
import os, signal, sys
def handler(number, frame):
    print(number, frame.f_code.co_name, frame.f_back)
    sys.exit(9)
signal.signal(signal.SIGTERM, handler)
os.kill(os.getpid(), signal.SIGTERM)
""",
)
script(
    "signals_ignored",
    """
import signal
print([signal.getsignal(s) for s in (signal.SIGINT, signal.SIGPIPE, signal.SIGCHLD)], signal.pthread_sigmask(signal.SIG_BLOCK, []))
""",
)
script(
    "signal_child_ignored",
    """
import signal, subprocess, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
print(subprocess.call([sys.executable, "-c", "raise SystemExit(3)"]))
""",
)
script("memory_error", "x = 'a' * (1 << 62)")
script(
    "uncaught_recursion",
    """
def f(n): return f(n + 1)
f(0)
""",
)

# --- Hooks, exit functions, threads -----------------------------------------------------------

script(
    "atexit_order",
    """
import atexit, threading, sys
class Last:
    def __del__(self): print("del", self.name)
keep = Last(); keep.name = "global"
atexit.register(print, "first registered")
@atexit.register
def failing(): raise ValueError("in atexit")
atexit.register(lambda: print(atexit._ncallbacks() > 0, sys.modules["__main__"].__name__))
threading._register_atexit(print, "threading atexit")
print("end")
""",
)
script(
    "atexit_exits",
    """
import atexit, sys
atexit.register(sys.exit, 5)
""",
)
script(
    "atexit_os_exit",
    """
import atexit, os
atexit.register(os._exit, 5)
print("gone", flush=True)
""",
)
script("atexit_cleared", "import atexit; atexit.register(print, 'x'); atexit._clear()")
script(
    "thread_outlives_main",
    """
import threading, time
def work():
    time.sleep(0.1); print("thread", threading.main_thread().is_alive())
threading.Thread(target=work).start()
print("main")
raise SystemExit(3)
""",
)
script(
    "raw_thread",
    """
import _thread, time
done = []
_thread.start_new_thread(lambda: done.append(1), ())
while not done: time.sleep(0.001)
print(done)
""",
)
script(
    "daemon_thread",
    """
import threading, time
threading.Thread(target=lambda: time.sleep(60), daemon=True).start()
print(threading.active_count(), threading.current_thread())
""",
)
script(
    "thread_exception",
    """
import threading
def f(): 1/0
t = threading.Thread(target=f, name="T"); t.start(); t.join()
""",
)
script(
    "thread_hook",
    """
import threading
threading.excepthook = lambda args: print("hook", args.exc_type, args.thread.name)
t = threading.Thread(target=lambda: 1/0, name="T"); t.start(); t.join()
""",
)
HOOK = """
import sys
def hook(kind, value, traceback):
    names = []
    while traceback: names.append(traceback.tb_frame.f_code.co_name); traceback = traceback.tb_next
    print("hook", kind, value, names)
sys.excepthook = hook
1/0
"""
script("excepthook", HOOK)
program("excepthook_command", "-c", HOOK)
program("excepthook_module", "-m", "mod", files={"mod.py": HOOK})
script(
    "excepthook_fails",
    """
import sys
def hook(*args): raise ValueError("hook")
sys.excepthook = hook
1/0
""",
)
script("excepthook_deleted", "import sys; del sys.excepthook; 1/0")
script(
    "excepthook_exits",
    """
import sys
sys.excepthook = lambda *args: sys.exit(9)
1/0
""",
)
script(
    "unraisable",
    """
class C:
    def __del__(self): 1/0
C()
def g():
    try: yield
    finally: raise ValueError("closing")
x = g(); next(x); del x
""",
)
script(
    "last_exception",
    """
import atexit, sys
atexit.register(lambda: print(repr(sys.last_value), sys.last_traceback.tb_frame.f_code.co_name, sys.last_traceback.tb_next))
1/0
""",
)
script(
    "audit_hooks",
    """
import sys
seen = []
sys.addaudithook(lambda name, args: seen.append(name))
compile("1", "x", "eval")
print(seen)
""",
)
script(
    "async",
    """
import asyncio
async def child(n):
    await asyncio.sleep(0); return n
async def main():
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(child(n)) for n in range(3)]
    print([t.result() for t in tasks])
asyncio.run(main())
asyncio.run(child("x" + 1 if False else 5))
asyncio.run(asyncio.wait_for(child(1), 1))
async def bad(): raise ValueError("async")
asyncio.run(bad())
""",
)

# --- Frames, sources, types ---------------------------------------------------------------------

script(
    "stack",
    """
import inspect, sys, traceback, warnings, logging
def f():
    print([(i.function, i.lineno) for i in inspect.stack()])
    traceback.print_stack()
    warnings.warn("deep", stacklevel=5)
    print(sys._getframe(1).f_back)
    print(len(sys._current_frames()))
f()
logging.basicConfig(format="%(funcName)s %(lineno)d %(message)s"); logging.warning("x", stacklevel=3)
try: sys._getframe(1)
except ValueError as error: print(error)
""",
)
program("stack_module", "-m", "mod", files={"mod.py": "import traceback; traceback.print_stack()"})
program("stack_command", "-c", "import traceback; traceback.print_stack()")
script(
    "faulthandler",
    """
import faulthandler, sys
faulthandler.dump_traceback(sys.stderr, all_threads=False)
""",
)
script(
    "debugger",
    """
x = 5
breakpoint()
print("end")
# On 3.13 breakpoint() stops one line later as soon as any tool uses sys.monitoring.
""",
    stdin="where\np x\nup\ncontinue\n",
    options=["--instrumenter=frame"],
)
script(
    "recursion_depth",
    """
import sys
def depth(n):
    try: return depth(n + 1)
    except RecursionError: return n
print(depth(0), sys.getrecursionlimit())
sys.setrecursionlimit(300); print(depth(0))
sys.setrecursionlimit(5000); print(depth(0))
""",
)
script(
    "recursion_through_c",
    """
import sys
class C:
    def __init__(self, n): self.n = n
    def __repr__(self): return repr(C(self.n + 1))
try: repr(C(0))
except RecursionError as error: print(error)
x = []
for _ in range(100000): x = [x]
try: repr(x)
except RecursionError as error: print(error)
""",
)
script(
    "source",
    """
import inspect
class C:
    def method(self): return 1
def f(): return 2
print(inspect.getsource(C.method), inspect.getsource(f), inspect.getfile(C), inspect.getmodule(f))
""",
)
script(
    "pickle",
    """
import copy, pickle
class C:
    def __init__(self): self.x = 1
print(pickle.loads(pickle.dumps(C())).x, C.__module__, pickle.dumps(C)[:30], copy.deepcopy(C()).x)
""",
)
script(
    "doctest",
    '''
"""
>>> 1 + 1
2
>>> f(1)
3
"""
def f(x):
    """
    >>> f(2)
    4
    """
    return x * 2
import doctest
print(doctest.testmod())
''',
)
script(
    "dataclass",
    """
from __future__ import annotations
import dataclasses, typing
@dataclasses.dataclass
class C:
    x: int
    y: "list[C]" = dataclasses.field(default_factory=list)
z: int = 5
print(C(1), typing.get_type_hints(C), __annotations__, typing.get_type_hints(__import__("__main__")))
class N(typing.NamedTuple):
    a: int
print(N(1))
""",
)
script(
    "main_module",
    """
import __main__, sys
print(__main__ is sys.modules["__main__"], __main__.__file__[-6:], __main__.x if hasattr(__main__, "x") else None)
x = 1
from __main__ import x as y
print(y)
if __name__ == "__main__": print("yes")
""",
)
script(
    "main_replaced",
    """
import sys, types
keep = sys.modules["__main__"]
sys.modules["__main__"] = types.ModuleType("__main__")
print(__name__)
raise ValueError("other main")
""",
)
script("main_deleted", "import sys; del sys.modules['__main__']; print(sys.argv)")
script("builtins", "print(type(__builtins__), quit, exit, open); quit(3)")
script("globals_cleared", "globals().clear()")
script(
    "runs_itself",
    """
import runpy, sys
if len(sys.argv) == 1:
    sys.argv.append("again")
    print(sorted(runpy.run_path(__file__, run_name="__main__"))[:3])
else:
    print("again", __name__)
""",
)
script(
    "unittest",
    """
import unittest
class T(unittest.TestCase):
    def test_a(self): self.assertEqual(1, 1)
    def test_b(self): self.assertEqual(1, 2)
unittest.TextTestRunner = lambda **k: None
suite = unittest.defaultTestLoader.loadTestsFromTestCase(T)
result = unittest.TestResult(); suite.run(result)
print(result.testsRun, [str(f[0]) + f[1] for f in result.failures])
""",
)
script(
    "settrace",
    """
import sys
events = []
def tracer(frame, event, arg):
    events.append((event, frame.f_code.co_name)); return tracer
def f(): return 1
sys.settrace(tracer); f(); sys.settrace(None)
print(events)
""",
)
script(
    "contexts",
    """
import contextvars, gc, locale, sys, time
print(len(list(contextvars.copy_context())), sys.exc_info(), gc.isenabled(), sys.getswitchinterval())
print(sys.getprofile(), sys.gettrace())
""",
)
script(
    "deletes_itself",
    """
import os
os.remove(__file__)
def f(): 1/0
f()
""",
)
script("changes_directory", "import os; os.mkdir('d'); os.chdir('d'); print(os.listdir('.'))")

# --- Processes ------------------------------------------------------------------------------------

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
    flags=["-Wignore::DeprecationWarning"],
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

# --- Streams ----------------------------------------------------------------------------------------

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

# --- Interactive --------------------------------------------------------------------------------------

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
