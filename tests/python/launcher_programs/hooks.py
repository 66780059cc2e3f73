"""Hooks, exit functions, threads, asyncio."""

from launcher_programs import program, script

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
