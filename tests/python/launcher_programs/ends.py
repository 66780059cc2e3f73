"""How programs end: statuses, exceptions, signals."""

from launcher_programs import program, script

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
    "keyboard_interrupt_left_an_exec",
    """
try:
    exec("raise KeyboardInterrupt")
except KeyboardInterrupt:
    print("caught; python itself takes it for the end of the program")
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
