"""What a program finds when it starts."""

from launcher_programs import program, script

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
