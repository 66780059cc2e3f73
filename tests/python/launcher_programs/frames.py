"""Programs that look at frames, sources and types."""

from launcher_programs import program, script

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
    options=["--instrumenter=dummy"],
)
for instrumenter in ("profile", "trace"):
    script(
        f"debugger_beside_{instrumenter}",
        """
def stops():
    x = 5
    breakpoint()
    y = 6
    return x + y
print(stops())
""",
        stdin="where\np x\nnext\ncontinue\n",
        options=[f"--instrumenter={instrumenter}"],
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
except RecursionError as error: print(str(error).partition(" (used")[0])  # so many kB
x = []
for _ in range(100000): x = [x]
try: repr(x)
except RecursionError as error: print(str(error).partition(" (used")[0])  # so many kB
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
