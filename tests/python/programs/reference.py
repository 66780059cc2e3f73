"""Runs a program under a profile function in Python and writes what it sees.

    python reference.py OUT PROGRAM

OUT gets a JSON list with one entry a thread, in order of their beginning: a list
of [kind, name] of the functions of the program itself.
"""

import _thread
import json
import sys
import threading
import types

streams, by_thread = [], threading.local()


def observe(frame, event, _):
    if event not in ("call", "return"):
        return
    if frame.f_globals.get("__name__") != "__main__" or frame.f_globals is globals():
        return
    try:
        stream = by_thread.stream
    except AttributeError:
        stream = by_thread.stream = []
        streams.append(stream)
    kind = "enter" if event == "call" else "leave"
    stream.append((kind, "__main__." + frame.f_code.co_qualname))


def start_new_thread(function, arguments, keywords={}, start=_thread.start_new_thread):
    def run():
        sys.setprofile(observe)
        function(*arguments, **keywords)

    return start(run, ())


def main():
    out, program = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    with open(program, encoding="utf-8") as file:
        code = compile(file.read(), program, "exec")
    namespace = {"__name__": "__main__", "__file__": program, "__builtins__": __builtins__}
    module = types.ModuleType("__main__")
    module.__dict__.update(namespace)
    sys.modules["__main__"] = module
    names = module.__dict__
    _thread.start_new_thread = start_new_thread
    threading.setprofile(observe)
    sys.setprofile(observe)
    try:
        exec(code, names)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        with open(out, "w") as file:
            json.dump(streams, file)


if __name__ == "__main__":
    main()
