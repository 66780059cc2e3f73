"""User regions through `python -m scorep`: their names and places, decorated objects, ends without starts."""

import pytest
from scorep_runs import TYPES, inside, of_program, trace
from test_scorep_streams import program

REGIONS = program("""
    import scorep.user
    import scorep.instrumenter

    def begin_end():
        scorep.user.region_begin("one")
        scorep.user.region_end("one")

    def block():
        with scorep.user.region("two"):
            pass

    @scorep.user.region()
    def semi():
        pass

    @scorep.user.region("four")
    def named():
        pass

    begin_end()
    block()
    with scorep.instrumenter.enable():
        semi()
    with scorep.instrumenter.disable("off"):
        semi()
    named()
""")


@pytest.mark.parametrize("type_", TYPES)
def test_regions_without_instrumentation(tmp_path, type_):
    done, woven = trace(tmp_path, REGIONS, "--nopython", f"--instrumenter-type={type_}")
    assert done.stderr == ""
    assert woven.calls(of_program) == inside(
        "user:one", "user:two", "__main__:semi", "__main__:semi", "user:four"
    )
    app = str(tmp_path / "app.py")
    assert woven.regions["user:one"] == (app, 6, "USER", "FUNCTION")
    assert woven.regions["user:two"] == (app, 10, "USER", "FUNCTION")
    assert woven.regions["__main__:semi"] == (app, 13, "USER", "FUNCTION")
    assert woven.regions["user:four"] == (app, 17, "USER", "FUNCTION")


@pytest.mark.parametrize("type_", TYPES)
def test_regions_with_instrumentation(tmp_path, type_):
    done, woven = trace(tmp_path, REGIONS, f"--instrumenter-type={type_}")
    assert done.stderr == ""
    main = "__main__:"
    assert woven.calls(of_program) == inside(
        (main + "<module>",
         (main + "begin_end", "user:one"),
         (main + "block", "user:two"),
         main + "semi",
         ("user_instrumenter:off", main + "semi"),
         ("user:four", main + "named")),
    )  # fmt: skip


def test_a_name_is_needed_for_a_block_only(tmp_path):
    text = program("""
        import scorep
        try:
            with scorep.user.region():
                pass
        except RuntimeError as error:
            print(error)
        for name in (None, 3):
            try:
                scorep.user.region(name)
            except TypeError as error:
                print(error)
    """)
    done, _ = trace(tmp_path, text)
    assert done.stdout == (
        "A region name needs to be specified.\n"
        "a name must be str, not NoneType\n"
        "a name must be str, not int\n"
    )


@pytest.mark.parametrize("off", [False, True])
def test_what_regions_decorate(tmp_path, off):
    """Coroutines and generators are covered as a whole; methods have one name."""
    text = program("""
        import asyncio, functools
        import scorep

        @scorep.user.region("coroutine")
        async def coroutine():
            await asyncio.sleep(0)
            inner()

        @scorep.user.region("generator")
        def generator():
            yield 1
            inner()

        def inner():
            pass

        class K:
            @scorep.user.region()
            def method(self):
                pass

            @scorep.user.region()
            @staticmethod
            def static():
                pass

        @scorep.user.region
        def bare():
            pass

        asyncio.run(coroutine())
        list(generator())
        K().method()
        K.static()
        scorep.user.region()(functools.partial(inner))()
        bare()
    """)
    _, woven = trace(tmp_path, text, *(["--noinstrumenter"] if off else []))
    calls = woven.calls(of_program)
    for name, times in {"user:coroutine": 2, "user:generator": 2, "__main__.K:method": 1,
                        "__main__.K:static": 1, "__main__:bare": 1}.items():  # fmt: skip
        assert (calls.count("+" + name), calls.count("-" + name)) == (times, times), name


@pytest.mark.parametrize("type_", TYPES)
def test_an_end_without_a_begin(tmp_path, type_):
    text = program("""
        import scorep.user
        scorep.user.region_end("nothing")
        scorep.user.region_end("either")
    """)
    done, woven = trace(tmp_path, text, "--noinstrumenter", f"--instrumenter-type={type_}")
    assert done.stderr == (
        "SCOREP_BINDING_PYTHON ERROR: There was a region exit without an enter!\n"
        'SCOREP_BINDING_PYTHON ERROR: For details look for "error_region" in the trace or profile.\n'
    )
    assert woven.calls() == [
        "+error_region", "leave-region=user:nothing", "-error_region",
        "+error_region", "leave-region=user:either", "-error_region",
    ]  # fmt: skip
    assert woven.regions["error_region"] == ("scorep.cpp", 0, "USER", "FUNCTION")


def test_dummy_observes_nothing_but_user_regions(tmp_path):
    _, woven = trace(tmp_path, REGIONS, "--instrumenter-type=dummy")
    assert woven.calls(of_program) == inside(
        "user:one", "user:two", "__main__:semi", "__main__:semi", "user:four"
    )
