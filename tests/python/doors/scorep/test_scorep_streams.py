"""The records of `python -m scorep`: whole event streams, with every instrumenter type."""

import textwrap

import pytest
from scorep_runs import TYPES, inside, of_program, run_scorep, trace


def program(text):
    return textwrap.dedent(text)


CALLS = program("""
    import module

    class K:
        class N:
            def deep(self):
                pass

        def m(self):
            return plain()

        @classmethod
        def c(cls):
            pass

    class Sub(K):
        pass

    def plain():
        return 1

    def outer():
        def closure():
            pass
        closure()
        Sub().m()
        K().m()
        K.N().deep()
        K.c()
        (lambda: 0)()
        module.away()

    def raises():
        raise KeyError

    def values():
        yield 1

    outer()
    try:
        raises()
    except KeyError:
        pass
    list(values())
""")


@pytest.mark.parametrize("type_", TYPES)
def test_the_whole_stream_of_a_program(tmp_path, type_):
    (tmp_path / "module.py").write_text("def away():\n    pass\n")
    done, woven = trace(tmp_path, CALLS, f"--instrumenter-type={type_}")
    assert (done.stdout, done.stderr) == ("", "")
    main = "__main__:"
    method = ("__main__.K:m", main + "plain")
    keep = lambda name: of_program(name) or name.startswith("module:")
    assert woven.calls(keep) == inside(
        (main + "<module>",
         "module:<module>",
         (main + "K", "__main__.K:N"),
         main + "Sub",
         (main + "outer", main + "closure", method, method, "__main__.K.N:deep", "__main__.K:c",
          main + "<lambda>", "module:away"),
         main + "raises",
         main + "values",
         main + "values"),
    )  # fmt: skip
    app = str(tmp_path / "app.py")
    assert woven.regions["__main__.K:m"] == (app, 9, "USER", "FUNCTION")
    assert woven.regions["__main__:<lambda>"] == (app, 30, "USER", "FUNCTION")
    assert woven.regions["module:away"] == (str(tmp_path / "module.py"), 1, "USER", "FUNCTION")


def test_parameters_have_their_names_and_types(tmp_path):
    text = program("""
        import scorep
        with scorep.user.region("r"):
            scorep.user.parameter_int("a", -1)
            scorep.user.parameter_int("b", 2)
            scorep.user.parameter_uint("c", 2**64 - 1)
            scorep.user.parameter_uint("d", 4)
            scorep.user.parameter_string("e", "text")
            scorep.user.parameter_string("f", "other")
    """)
    done, woven = trace(tmp_path, text, "--noinstrumenter")
    assert done.stderr == ""
    assert woven.calls() == [
        "+user:r", "a=-1", "b=2", "c=18446744073709551615", "d=4", "e=text", "f=other", "-user:r"
    ]  # fmt: skip
    kinds = [kind for kind, _ in woven.events[0] if kind.startswith("PARAMETER")]
    assert kinds == ["PARAMETER_INT64"] * 2 + ["PARAMETER_UINT64"] * 2 + ["PARAMETER_STRING"] * 2


REWIND = program("""
    import scorep.user

    def bar():
        pass

    def foo(discard):
        bar()
        scorep.user.rewind_begin("part")
        bar()
        with scorep.user.region("inside"):
            bar()
        scorep.user.rewind_end("part", discard)
        bar()

    foo({discard})
""")


@pytest.mark.parametrize("type_", TYPES)
def test_rewind_discards_what_it_is_told_to(tmp_path, type_):
    done, woven = trace(tmp_path, REWIND.format(discard=True), f"--instrumenter-type={type_}")
    assert done.stderr == ""
    foo, bar = "__main__:foo", "__main__:bar"
    keep = [foo, bar, "user:inside"].__contains__
    assert woven.calls(keep) == [
        "+" + foo, *inside(bar), "OFF", "ON", *inside(bar), "-" + foo
    ]  # fmt: skip
    done, woven = trace(tmp_path, REWIND.format(discard=False), f"--instrumenter-type={type_}")
    assert woven.calls(keep) == inside((foo, bar, bar, ("user:inside", bar), bar))


def test_rewinds_that_do_not_fit(tmp_path):
    """An end without a start, a nested one, one across functions."""
    text = program("""
        import scorep.user as u

        def begin():
            u.rewind_begin("across")

        def end():
            u.rewind_end("across", True)

        u.rewind_end("never", True)
        u.rewind_begin("outer")
        with u.region("a"):
            u.rewind_begin("inner")
            with u.region("b"):
                pass
            u.rewind_end("inner", True)
        u.rewind_end("outer", False)
        begin()
        with u.region("c"):
            pass
        end()
        with u.region("d"):
            pass
    """)
    done, woven = trace(tmp_path, text)
    assert "region exit without an enter" in done.stderr
    calls = woven.calls(of_program)
    assert calls == [
        "+__main__:<module>", "+error_region", "leave-region=never", "-error_region",
        "+user:a", "OFF", "ON", "-user:a",
        "+__main__:begin", "OFF", "-__main__:begin", "+__main__:end", "ON", "-__main__:end",
        "+user:d", "-user:d", "-__main__:<module>",
    ]  # fmt: skip


@pytest.mark.parametrize("type_", TYPES)
def test_force_finalize(tmp_path, type_):
    text = program("""
        import os, scorep.user
        def foo(): pass
        def bar(): pass
        foo()
        scorep.user.force_finalize()
        print(os.path.exists("run/traces.otf2"), flush=True)
        bar()
        with scorep.user.region("late"):
            pass
        os._exit(3)
    """)
    done, woven = trace(tmp_path, text, f"--instrumenter-type={type_}", status=3)
    assert (done.stdout, done.stderr) == ("True\n", "")
    assert woven.calls(of_program) == inside(("__main__:<module>", "__main__:foo"))


def test_threads_are_locations_and_their_classes_no_errors(tmp_path):
    text = program("""
        import threading, _thread, time

        class Worker(threading.Thread):
            def run(self):
                work()

        def work():
            pass

        done = threading.Event()
        def raw():
            work()
            done.set()

        threads = [Worker() for _ in range(3)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        _thread.start_new_thread(raw, ())
        done.wait()
        threading.Timer(0, work).start()
    """)
    done, woven = trace(tmp_path, text)
    assert done.stderr == ""
    everything = [call for events in woven.events.values() for call in events]
    assert everything.count(("ENTER", "__main__:work")) == 5
    assert ("ENTER", "error_region") not in everything
    assert len(woven.events) == 6
    assert everything.count(("ENTER", "__main__.Worker:run")) == 3


def test_the_program_is_main(tmp_path):
    """pickle, multiprocessing and inspect see it, with every start method."""
    text = program("""
        import multiprocessing, pickle, sys

        class C:
            pass

        def square(n):
            return n * n

        def main(argv):
            return argv[1:]

        if __name__ == "__main__":
            assert type(pickle.loads(pickle.dumps(C()))) is C
            assert sys.modules["__main__"].main(sys.argv) == ["a", "--b"]
            for method in ("fork", "spawn", "forkserver"):
                with multiprocessing.get_context(method).Pool(2) as pool:
                    print(pool.map(square, range(4)))
    """)
    done, woven = trace(tmp_path, text, arguments=["a", "--b"])
    assert (done.stdout, done.stderr) == ("[0, 1, 4, 9]\n" * 3, "")
    squares = sum(events.count(("ENTER", "__main__:square")) for events in woven.events.values())
    spawned = sum(events.count(("ENTER", "__mp_main__:square")) for events in woven.events.values())
    assert squares + spawned == 12


def test_instrumenter_file(tmp_path):
    (tmp_path / "module.py").write_text("def baz():\n    pass\ndef bar():\n    pass\n")
    (tmp_path / "a=b.py").write_text(
        "import scorep.user\nimport module\nscorep.user.instrument_module(module)\n"
    )
    text = "import module\nmodule.baz()\nmodule.bar()\n"
    done, woven = trace(tmp_path, text, "--noinstrumenter", "--instrumenter-file=a=b.py")
    assert done.stderr == ""
    assert woven.calls() == inside("module:baz", "module:bar")


def test_an_exception_in_the_instrumenter_file_ends_the_program(tmp_path):
    (tmp_path / "before.py").write_text("raise ValueError('no')\n")
    done = run_scorep_app(tmp_path, "print('never')\n", "--instrumenter-file=before.py", status=1)
    assert done.stdout == "" and done.stderr.endswith("ValueError: no\n")


def run_scorep_app(tmp_path, text, *options, **more):
    (tmp_path / "app.py").write_text(text)
    return run_scorep(tmp_path, *options, "app.py", **more)


def test_enable_and_disable_count_as_documented(tmp_path):
    text = program("""
        import scorep
        from scorep.instrumenter import disable, enable

        def f():
            pass

        @enable("wrapped")
        def g():
            f()

        with disable("a"):
            f()
            with disable("b"):
                f()
            with enable("c"):
                f()
                with enable("d"):
                    f()
        g()
        with disable():
            g()
        scorep.instrumenter.unregister()
        f()
        scorep.instrumenter.register()
        f()
    """)
    _, woven = trace(tmp_path, text)
    main, f = "__main__:<module>", "__main__:f"
    u = "user_instrumenter:"
    assert woven.calls(of_program) == inside(
        (main, (u + "a", (u + "c", f, f)), ("__main__:g", f), (u + "wrapped", ("__main__:g", f)), f)
    )


def test_recording_is_switched_for_everything(tmp_path):
    text = program("""
        import scorep.user
        def f(): pass
        f()
        scorep.user.disable_recording()
        f()
        with scorep.user.region("no"):
            pass
        scorep.user.enable_recording()
        f()
    """)
    _, woven = trace(tmp_path, text)
    f = inside("__main__:f")
    assert woven.calls(of_program) == ["+__main__:<module>", *f, "OFF", "ON", *f, "-__main__:<module>"]
